/** What the tools of MCP servers know of their exchanges before the first one loads the client and its parsers. */

/** Tells which request carries which attempt; servers ignore it. */
export const ATTEMPT_HEADER = 'svc-attempt'

/** The peer answered in a form that cannot be used. No outage: waiting does not help. The message continues "MCP server x". */
export class McpFormError extends Error {
  override readonly name = 'McpFormError'
}
