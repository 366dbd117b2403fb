/** A tool as its MCP server describes it. */
import { digestOfJson, type Digest } from '../base/digest.ts'
import type { JsonObject } from '../base/json.ts'

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** What the server says a call does; absent where it says nothing. */
  readonly readOnly?: boolean
  readonly destructive?: boolean
}

/** The tools of a server by name, or why they are not known; the reason holds no secret. */
export type ToolListing = { readonly tools: ReadonlyMap<string, ListedTool> } | { readonly problem: string }

/** What a lock pins of a tool: its name, description and schema. */
export const digestOfTool = ({ name, description, inputSchema }: ListedTool): Digest =>
  digestOfJson({ name, description, input_schema: inputSchema })
