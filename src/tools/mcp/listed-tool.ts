/** Tools as an MCP server describes them. */
import { digestOfJson, type Digest } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json/json.ts'

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** The server's hints about the effect of a call; absent when it gives none. */
  readonly readOnly?: boolean
  readonly destructive?: boolean
}

/** What a list of tools has that cannot be used, or not whole. Its other tools can. */
export interface ToolListFault {
  /** The tool, where it has a name. */
  readonly tool?: string
  /** A sentence about the list, without the name of the server: `Tool "x" is left out: its inputSchema is no object.` */
  readonly problem: string
}

export interface ToolList {
  readonly tools: ReadonlyMap<string, ListedTool>
  readonly faults: readonly ToolListFault[]
}

/** The tools of a server, or why they could not be listed. The reason contains no secret. */
export type ToolListing = ToolList | { readonly problem: string }

/** The digest that a lock pins: of the tool's name, description and schema. */
export const digestOfTool = ({ name, description, inputSchema }: ListedTool): Digest =>
  digestOfJson({ name, description, input_schema: inputSchema })

/** Why a list does not have a tool that is bound; `isLost` where the list has something that cannot be read. */
export function whyNotListed(
  { faults }: ToolList,
  server: string,
  tool: string,
): { readonly error: string; readonly isLost: boolean } {
  const own = faults.find((fault) => fault.tool === tool)
  if (own) return { error: `MCP server "${server}": ${own.problem}`, isLost: true }
  const unnamed = faults.filter((fault) => fault.tool === undefined).map(({ problem }) => ` ${problem}`)
  return { error: `MCP server "${server}" has no tool "${tool}".${unnamed.join('')}`, isLost: unnamed.length > 0 }
}
