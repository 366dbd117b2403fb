/** What MCP servers say about their tools when nothing is called: for `svc lint --mcp-live` and `svc compile --mcp`. */
import type { Tool } from '@modelcontextprotocol/client'
import type { JsonObject } from '../base/json.ts'
import { createRedactor } from '../base/secret.ts'
import type { FetchFunction } from '../base/transport.ts'
import type { McpServer } from '../spec/document.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import type { ListedTool, ToolListing } from './listed-tool.ts'
import { connectMcp } from './mcp-connection.ts'
import { mcpCredentials, missingSecret } from './mcp-credentials.ts'

/** Asks a server for its tools as one agent would. */
export type AskMcp = (agent: Pick<AgentSnapshot, 'id' | 'secrets'>, server: McpServer) => Promise<ToolListing>

export interface ListingParts {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The guarded way out. */
  readonly fetch: FetchFunction
  /** Our version, told to the server. */
  readonly version: string
  /** For connecting and for listing, each. */
  readonly timeoutMs: number
}

/** Asks a server as one agent would. Never throws for what the server does. */
export async function listMcpTools(
  agent: Pick<AgentSnapshot, 'id' | 'secrets'>,
  server: McpServer,
  { env, fetch, version, timeoutMs }: ListingParts,
): Promise<ToolListing> {
  const missing = missingSecret(agent, server, env)
  if (missing !== undefined) return { problem: missing }
  const redactor = createRedactor()
  const headers = mcpCredentials(agent, server, env, redactor)
  const signal = AbortSignal.timeout(2 * timeoutMs)
  try {
    const connection = await connectMcp({ server, headers, fetch, version }, timeoutMs, signal)
    try {
      const tools = await connection.toolsFor(undefined, { signal, timeout: timeoutMs })
      return { tools: new Map([...tools].map(([name, tool]) => [name, toListed(tool)])) }
    } finally {
      await connection.close()
    }
  } catch (error) {
    return { problem: redactor.text(`MCP server "${server.name}" does not list its tools: ${innermostCause(error)}`) }
  }
}

/** The cause that says most: what the layers above it say is that something failed. */
export function innermostCause(error: unknown): string {
  let here = error
  for (let depth = 0; depth < 8 && here instanceof Error && here.cause instanceof Error && here.cause.message; depth++)
    here = here.cause
  return here instanceof Error ? here.message.slice(0, 500) : String(here)
}

/** What a server says of a tool, as far as anybody here reads it. */
export function toListed({ name, description = '', inputSchema, annotations = {} }: Tool): ListedTool {
  const { readOnlyHint, destructiveHint } = annotations
  return {
    name,
    description,
    inputSchema: inputSchema as JsonObject,
    ...(readOnlyHint !== undefined && { readOnly: readOnlyHint }),
    ...(destructiveHint !== undefined && { destructive: destructiveHint }),
  }
}
