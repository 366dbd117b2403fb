/** Where each tool runs: `mcp` on the manifest, else the project config by logical id. Source: decisions, section 14. */
import { systemClock, type Clock } from '../base/clock.ts'
import { parseDuration } from '../base/duration.ts'
import { createEgress } from '../base/egress.ts'
import type { Redactor } from '../base/secret.ts'
import type { FetchFunction } from '../base/transport.ts'
import type { ProjectConfig, ToolRouteConfig } from '../spec/config.ts'
import { readWorkspaceFile, type ReadFile } from './builtin.ts'
import { runCommand } from './command.ts'
import { callHttp } from './http.ts'
import { unsetSecret } from './mcp-credentials.ts'
import { createMcpServers } from './mcp.ts'
import { answerMock } from './mock.ts'
import { withDeadline } from './outcome.ts'
import { DEFAULT_TIMEOUT_MS, type ToolOutcome, type ToolRoute, type Toolbox } from './tool.ts'

export interface ToolboxParts {
  readonly config: ProjectConfig
  /** Absolute directory of the config file: commands run in it. */
  readonly configDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly redactor: Redactor
  /** For `svc.read_file`; without it the tool has no handler. */
  readonly readFile?: ReadFile
  /** Ports on which this process listens, which no tool may reach. */
  readonly ownPorts?: ReadonlySet<number>
  /** In place of our own ways out, for both http tools and MCP servers. */
  readonly fetch?: FetchFunction
  /** The clock that `notAfter` of an invocation is read by. */
  readonly clock?: Clock
  /** True where no secret is asked for: a server that needs one is then told so by its calls alone. */
  readonly offline?: boolean
  /** Our version, told to MCP servers. */
  readonly version?: string
}

export function createToolbox(parts: ToolboxParts): Toolbox {
  const { config, configDir, env, redactor, readFile, ownPorts, offline = false, clock = systemClock } = parts
  // A call may be sent at most once, so no connection is used for two.
  const way = { allowedHosts: config.network?.allowed_hosts ?? [], ...(ownPorts && { ownPorts }) }
  const direct = parts.fetch ?? createEgress({ ...way, from: 'config' })
  const guarded = parts.fetch ?? createEgress({ ...way, from: 'document' })
  const servers = createMcpServers({ env, redactor, fetch: guarded, clock, version: parts.version ?? '0' })

  const route = (name: ToolRoute['route'], timeoutMs: number, invoke: ToolRoute['invoke']): ToolRoute => ({
    route: name,
    timeoutMs,
    invoke: (invocation, signal) =>
      clock.now() > invocation.notAfter ? Promise.resolve(TOO_LATE) : invoke(invocation, signal),
  })

  const configured = (found: ToolRouteConfig): ToolRoute | undefined => {
    const timeoutMs = timeoutOf(found)
    if ('command' in found) {
      const command = { argv: found.command, cwd: configDir, env, allow: found.env ?? [], timeoutMs, clock }
      return route('command', timeoutMs, (invocation, signal) => runCommand(command, invocation, signal))
    }
    if ('http' in found) {
      const { url, headers = {} } = found.http
      return route('http', timeoutMs, async (invocation, signal) => {
        const filled = fillHeaders(headers, env, redactor)
        if ('missing' in filled)
          return {
            at: 'not_sent',
            code: 'refused',
            error: `A header of ${invocation.tool.id} needs the environment variable ${filled.missing}.`,
          }
        return callHttp({ url, headers: filled.headers, fetch: direct, timeoutMs, clock }, invocation, signal)
      })
    }
    if (!('mock' in found)) return undefined
    return route(
      'mock',
      timeoutMs,
      bounded(timeoutMs, (call, signal) => answerMock(found.mock, clock, call, signal)),
    )
  }

  return {
    route(agent, tool) {
      if (tool.id === 'svc.read_file')
        return (
          readFile &&
          route(
            'builtin',
            DEFAULT_TIMEOUT_MS,
            bounded(DEFAULT_TIMEOUT_MS, (call) => readWorkspaceFile(readFile, call)),
          )
        )
      const found = routeOf(config.tools ?? {}, tool.id)
      const own = found?.concurrency === undefined ? {} : { concurrency: found.concurrency }
      if (tool.mcp) {
        // Where the server is comes from the manifest; how long it may take may still be configured.
        const timeoutMs = timeoutOf(found)
        return {
          ...route('mcp', timeoutMs, (invocation, signal) => servers.call(agent, invocation, timeoutMs, signal)),
          ...own,
        }
      }
      const configuredRoute = found && configured(found)
      return configuredRoute && { ...configuredRoute, ...own }
    },
    describe: (agent, tool, signal) =>
      tool.mcp
        ? servers.describe(agent, tool, timeoutOf(routeOf(config.tools ?? {}, tool.id)), signal)
        : Promise.resolve(undefined),
    unset(agent) {
      const used = new Set(agent.tools.flatMap((tool) => tool.mcp?.server ?? []))
      const missing = agent.mcpServers
        .filter(({ name }) => used.has(name))
        .map((server) => unsetSecret(agent, server, env))
      return offline ? undefined : missing.find(Boolean)
    },
    close: () => servers.close(),
  }
}

const timeoutOf = (found: ToolRouteConfig | undefined): number =>
  found?.timeout === undefined ? DEFAULT_TIMEOUT_MS : (parseDuration(found.timeout) ?? DEFAULT_TIMEOUT_MS)

/** A call of what keeps no time of its own: let go of when the time is up. */
const bounded =
  (timeoutMs: number, invoke: ToolRoute['invoke']): ToolRoute['invoke'] =>
  async (invocation, signal) => {
    const limit = withDeadline(timeoutMs, signal)
    const late = new Promise<ToolOutcome>((resolve) =>
      limit.signal.addEventListener('abort', () => {
        const error = `${invocation.tool.id} did not answer within ${timeoutMs} ms.`
        if (limit.timedOut()) resolve({ at: 'unknown', code: 'timeout', error })
      }),
    )
    try {
      return await Promise.race([invoke(invocation, limit.signal), late])
    } finally {
      limit.release()
    }
  }

const TOO_LATE: ToolOutcome = {
  at: 'not_sent',
  code: 'refused',
  error: 'The time for this call had passed before it was sent.',
}

/** The entry of the exact id, else of the longest `namespace.*` around it. */
function routeOf(tools: Readonly<Record<string, ToolRouteConfig>>, id: string): ToolRouteConfig | undefined {
  if (Object.hasOwn(tools, id)) return tools[id]
  const parts = id.split('.')
  for (let length = parts.length - 1; length > 0; length--) {
    const pattern = `${parts.slice(0, length).join('.')}.*`
    if (Object.hasOwn(tools, pattern)) return tools[pattern]
  }
  return Object.hasOwn(tools, '*') ? tools['*'] : undefined
}

/** Fills `${NAME}` in header values from the environment, so that no secret stands in the config. */
function fillHeaders(
  headers: Readonly<Record<string, string>>,
  env: ToolboxParts['env'],
  redactor: Redactor,
): { readonly headers: Record<string, string> } | { readonly missing: string } {
  let missing: string | undefined
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_, variable: string) => {
      const found = env[variable]
      if (!found) missing ??= variable
      else redactor.add(found)
      return found ?? ''
    }),
  ])
  return missing === undefined ? { headers: Object.fromEntries(filled) as Record<string, string> } : { missing }
}
