/** Lists tools of MCP servers while documents are checked or compiled. Source: docs/design/security.md#tools-that-change */
import type { McpToolLister } from '../../tools/mcp-listing.ts'
import type { CommandContext } from '../shell/command.ts'
import type { Project } from '../project/project.ts'
import { withSpinner } from '../shell/screen/spinner.ts'
import { packageVersion } from '../shell/version.ts'

/** Limit for connecting and for listing, each. */
const TIMEOUT_MS = 10_000

export async function createAskMcp({ io }: Pick<CommandContext, 'io'>, { config }: Project): Promise<McpToolLister> {
  const [{ listMcpTools }, { createEgress }] = await Promise.all([
    import('../../tools/mcp-listing.ts'),
    import('../../base/net/egress.ts'),
  ])
  const fetch = createEgress({ from: 'document', allowedHosts: config.network?.allowed_hosts ?? [] })
  return (agent, server) =>
    listMcpTools(agent, server, { env: io.env, fetch, version: packageVersion, timeoutMs: TIMEOUT_MS })
}

/** Says which server the command waits for. */
export const withMcpSpinner =
  (call: Pick<CommandContext, 'io' | 'mode'>, ask: McpToolLister): McpToolLister =>
  (agent, server) =>
    withSpinner(call, `asking MCP server "${server.name}" for its tools`, () => ask(agent, server))
