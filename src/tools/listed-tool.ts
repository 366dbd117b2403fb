/** Tools as an MCP server describes them. */
import { digestOfJson, type Digest } from '../base/digest.ts'
import type { JsonObject } from '../base/json/json.ts'

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** The server's hints about the effect of a call; absent when it gives none. */
  readonly readOnly?: boolean
  readonly destructive?: boolean
}

/** The tools of a server by name, or why they could not be listed. The reason contains no secret. */
export type ToolListing = { readonly tools: ReadonlyMap<string, ListedTool> } | { readonly problem: string }

/** The digest that a lock pins: of the tool's name, description and schema. */
export const digestOfTool = ({ name, description, inputSchema }: ListedTool): Digest =>
  digestOfJson({ name, description, input_schema: inputSchema })
