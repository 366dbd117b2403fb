/** What an MCP endpoint offers: a list of tools, and what a call of one does. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../base/json/json.ts'

export interface McpCall {
  readonly name: string
  readonly arguments: JsonObject
  /** `_meta` of the request. */
  readonly meta: JsonObject
  /** Aborts when the client gives the call up; what it began goes on. */
  readonly signal: AbortSignal
  /** What an `McpAddress` gave: the client asks again with it. It comes from the client, so it proves nothing. */
  readonly state?: string
  /** True where the client opens addresses for people (`elicitation.url`). */
  readonly opensAddresses: boolean
}

/** Where a person has to go before the call can end: the client shows the address, and asks again. */
export interface McpAddress {
  readonly message: string
  readonly url: string
  readonly state: string
}

export interface McpTools {
  /** In a stable order. */
  list(): Promise<readonly Tool[]>
  /** @throws Failure `unknown_tool`; what went wrong in the call itself is a result with `isError` */
  call(call: McpCall): Promise<CallToolResult | McpAddress>
}

/** A result of text alone. */
export const textResult = (text: string, isError = false): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(isError && { isError }),
})
