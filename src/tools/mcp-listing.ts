/** Lists the tools of MCP servers for `svc lint --mcp-live` and `svc compile --mcp`. */
import type { Tool } from '@modelcontextprotocol/client'
import type { JsonObject } from '../base/json/json.ts'
import { createRedactor } from '../base/secret.ts'
import type { FetchFunction } from '../base/net/transport.ts'
import { innermostMessage } from '../base/innermost-cause.ts'
import type { McpServer } from '../spec/document.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import type { ListedTool, ToolListing } from './listed-tool.ts'
import { connectMcp } from './mcp-connection.ts'
import { mcpCredentials, missingSecret } from './mcp-credentials.ts'

/** Lists the tools of a server with the credentials of an agent. */
export type McpToolLister = (agent: Pick<AgentSnapshot, 'id' | 'secrets'>, server: McpServer) => Promise<ToolListing>

export interface ListingParts {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Sends the requests, through the egress checks. */
  readonly fetch: FetchFunction
  /** Our version, sent to the server. */
  readonly version: string
  /** Applies to connecting and to listing, each. */
  readonly timeoutMs: number
}

/** Lists the tools of a server with the credentials of an agent. Errors of the server are returned, never thrown. */
export async function listMcpTools(
  agent: Pick<AgentSnapshot, 'id' | 'secrets'>,
  server: McpServer,
  { env, fetch, version, timeoutMs }: ListingParts,
): Promise<ToolListing> {
  const missing = missingSecret(agent, server, env)
  if (missing !== undefined) return { problem: missing.error }
  const redactor = createRedactor()
  const headers = mcpCredentials(agent, server, env, redactor)
  const signal = AbortSignal.timeout(2 * timeoutMs)
  try {
    const connection = await connectMcp({ server, headers, fetch, version }, timeoutMs, signal)
    try {
      const tools = await connection.toolsFor(undefined, { signal, timeout: timeoutMs })
      return { tools: new Map([...tools].map(([name, tool]) => [name, toListedTool(tool)])) }
    } finally {
      await connection.close()
    }
  } catch (error) {
    return {
      problem: redactor.text(
        `MCP server "${server.name}" does not list its tools: ${innermostMessage(error).slice(0, 500)}`,
      ),
    }
  }
}

/** The parts of a server's tool description that svc uses. */
export function toListedTool({ name, description = '', inputSchema, annotations = {} }: Tool): ListedTool {
  const { readOnlyHint, destructiveHint } = annotations
  return {
    name,
    description,
    inputSchema: inputSchema as JsonObject,
    ...(readOnlyHint !== undefined && { readOnly: readOnlyHint }),
    ...(destructiveHint !== undefined && { destructive: destructiveHint }),
  }
}
