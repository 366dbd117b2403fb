/** Lists tools of MCP servers while documents are checked or compiled. Source: docs/design/security.md#tools-that-change */
import { systemClock } from '../../base/clock.ts'
import { silentLog } from '../../base/log.ts'
import { createRedactor } from '../../base/secret.ts'
import type { McpToolLister } from '../../tools/mcp/mcp-listing.ts'
import type { CommandContext } from '../shell/command.ts'
import type { Project } from '../project/project.ts'
import { withSpinner } from '../shell/screen/spinner.ts'
import { packageVersion } from '../shell/version.ts'

/** Limit for connecting and for listing, each. */
const TIMEOUT_MS = 10_000

export async function createAskMcp(
  { io }: Pick<CommandContext, 'io'>,
  { config, directory, dataDirectory }: Project,
): Promise<McpToolLister> {
  const [{ listMcpTools }, { createEgress }, { createMcpPrograms }, { openLoginStore }] = await Promise.all([
    import('../../tools/mcp/mcp-listing.ts'),
    import('../../base/net/egress.ts'),
    import('../../tools/mcp/mcp-programs.ts'),
    import('../../tools/oauth/login-command.ts'),
  ])
  const fetch = createEgress({ from: 'document', allowedHosts: config.network?.allowed_hosts ?? [] })
  const redactor = createRedactor()
  const programs = createMcpPrograms({
    config,
    configDir: directory,
    env: io.env,
    redactor,
    clock: systemClock,
    log: silentLog,
  })
  const logins = openLoginStore({ config, configDir: directory, dataDirectory, env: io.env })
  return (agent, server) =>
    listMcpTools(agent, server, {
      env: io.env,
      redactor,
      fetch,
      version: packageVersion,
      timeoutMs: TIMEOUT_MS,
      programs,
      logins,
    })
}

/** Says which server the command waits for. */
export const withMcpSpinner =
  (call: Pick<CommandContext, 'io' | 'mode'>, ask: McpToolLister): McpToolLister =>
  (agent, server) =>
    withSpinner(call, `asking MCP server "${server.name}" for its tools`, () => ask(agent, server))
