/**
 * Routes each tool to its handler: `mcp` in the manifest, else the project config by logical id.
 * Source: docs/design/models-and-tools.md#where-a-tool-runs
 */
import { systemClock, type Clock } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import { createEgress } from '../../base/net/egress.ts'
import type { OwnListeners } from '../../base/net/own-listeners.ts'
import { silentLog, type Log } from '../../base/log.ts'
import type { Redactor } from '../../base/secret.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { ProjectConfig, ToolRouteConfig } from '../../spec/project/config.ts'
import { readWorkspaceFile, type ReadFile } from './builtin.ts'
import { runCommand } from '../command.ts'
import { callHttp } from './http.ts'
import { findUnset } from '../mcp/mcp-credentials.ts'
import { openLoginStore } from '../oauth/login-command.ts'
import { createMcpPrograms } from '../mcp/mcp-programs.ts'
import { createMcpServers } from '../mcp/mcp.ts'
import { answerMock } from './mock.ts'
import { callOperation, type OperationRecords } from './operation.ts'
import { HELD_BACK, withDeadline } from '../outcome.ts'
import { DEFAULT_TIMEOUT_MS, type ToolOutcome, type ToolRoute, type Toolbox } from '../tool.ts'

export interface ToolboxParts {
  readonly config: ProjectConfig
  /** Absolute directory of the config file: commands run in it. */
  readonly configDir: string
  /** Logins to MCP servers are in it; without it there are none. */
  readonly dataDirectory?: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly redactor: Redactor
  /** For `svc.read_file`; without it the tool has no handler. */
  readonly readFile?: ReadFile
  /** Ports on which this process listens; requests of tools must not reach them. */
  readonly ownListeners?: OwnListeners
  /** Replaces the egress of both http tools and MCP servers. */
  readonly fetch?: FetchFunction
  /** The clock that `notAfter` of an invocation is compared with. */
  readonly clock?: Clock
  /** True to require no secret before a run: a missing one then fails only the calls that need it. */
  readonly offline?: boolean
  /** Our version, sent to MCP servers. */
  readonly version?: string
  /** Told of tools that MCP servers list wrongly. */
  readonly log?: Log
}

export function createToolbox(parts: ToolboxParts): Toolbox {
  const { config, configDir, env, redactor, readFile, ownListeners, offline = false, clock = systemClock } = parts
  // No keep-alive: a call may be sent at most once, so each one gets its own connection.
  const shared = { allowedHosts: config.network?.allowed_hosts ?? [], ...(ownListeners && { ownListeners }) }
  const configEgress = parts.fetch ?? createEgress({ ...shared, from: 'config' })
  const documentEgress = parts.fetch ?? createEgress({ ...shared, from: 'document' })
  const records: OperationRecords = new Map()
  const log = parts.log ?? silentLog
  const programs = createMcpPrograms({ config, configDir, env, redactor, clock, log })
  const servers = createMcpServers({
    env,
    redactor,
    fetch: documentEgress,
    clock,
    version: parts.version ?? '0',
    log,
    programs,
    logins:
      parts.dataDirectory === undefined ? undefined : openLoginStore({ ...parts, dataDirectory: parts.dataDirectory }),
  })

  const createRoute = (name: ToolRoute['route'], timeoutMs: number, invoke: ToolRoute['invoke']): ToolRoute => ({
    route: name,
    timeoutMs,
    invoke(invocation, signal) {
      if (clock.now() > invocation.notAfter) return Promise.resolve(TOO_LATE)
      return invocation.mayLeave?.() === false ? Promise.resolve(HELD_BACK) : invoke(invocation, signal)
    },
  })

  const createConfiguredRoute = (found: ToolRouteConfig): ToolRoute | undefined => {
    const timeoutMs = timeoutOf(found)
    if ('command' in found) {
      const command = { argv: found.command, cwd: configDir, env, allow: found.env ?? [], timeoutMs, clock, redactor }
      return createRoute('command', timeoutMs, (invocation, signal) => runCommand(command, invocation, signal))
    }
    if ('http' in found || 'openapi' in found) {
      const { headers = {} } = 'http' in found ? found.http : found.openapi
      return createRoute('http' in found ? 'http' : 'openapi', timeoutMs, async (invocation, signal) => {
        const filled = fillHeaders(headers, env, redactor)
        if ('missing' in filled)
          return {
            at: 'not_sent',
            code: 'secret_missing',
            error: `A header of ${invocation.tool.id} needs the environment variable ${filled.missing}.`,
          }
        const parts = { headers: filled.headers, timeoutMs, clock, redactor }
        if ('http' in found) return callHttp({ ...parts, url: found.http.url, fetch: configEgress }, invocation, signal)
        // The import proposed the address, so it is held to the rules for those of documents.
        const operation = { ...parts, route: found.openapi, directory: configDir, env, fetch: documentEgress }
        return callOperation(operation, records, invocation, signal)
      })
    }
    if (!('mock' in found)) return undefined
    return createRoute(
      'mock',
      timeoutMs,
      withTimeout(timeoutMs, (call, signal) => answerMock(found.mock, clock, call, signal)),
    )
  }

  return {
    route(agent, tool) {
      if (tool.id === 'svc.read_file')
        return (
          readFile &&
          createRoute(
            'builtin',
            DEFAULT_TIMEOUT_MS,
            withTimeout(DEFAULT_TIMEOUT_MS, (call) => readWorkspaceFile(readFile, call)),
          )
        )
      const found = findRouteConfig(config.tools ?? {}, tool.id)
      const limits = found?.concurrency === undefined ? {} : { concurrency: found.concurrency }
      if (tool.mcp) {
        // The manifest names the server; the config may still set the timeout.
        const timeoutMs = timeoutOf(found)
        const idle = found !== undefined && 'idle_timeout' in found ? found.idle_timeout : undefined
        const idleMs = idle === undefined ? undefined : parseDuration(idle)
        const times = { timeoutMs, ...(idleMs !== undefined && { idleMs }) }
        return {
          ...createRoute('mcp', timeoutMs, (invocation, signal) => servers.call(agent, invocation, times, signal)),
          ...limits,
        }
      }
      const configuredRoute = found && createConfiguredRoute(found)
      return configuredRoute && { ...configuredRoute, ...limits }
    },
    describe: (agent, tool, signal) =>
      tool.mcp
        ? servers.describe(agent, tool, timeoutOf(findRouteConfig(config.tools ?? {}, tool.id)), signal)
        : Promise.resolve(undefined),
    findUnsetSecret(agent) {
      const used = new Set(agent.tools.flatMap((tool) => tool.mcp?.server ?? []))
      const missing = agent.mcpServers
        .filter(({ name }) => used.has(name))
        .map((server) => findUnset(agent, server, env, programs.find(server)))
      return offline ? undefined : missing.find(Boolean)
    },
    close: () => servers.close(),
  }
}

const timeoutOf = (found: ToolRouteConfig | undefined): number =>
  found?.timeout === undefined ? DEFAULT_TIMEOUT_MS : (parseDuration(found.timeout) ?? DEFAULT_TIMEOUT_MS)

/** Adds a timeout to a handler that has none: the call is abandoned when the time is up. */
const withTimeout =
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

/** The entry with the exact id, else the one with the longest matching `namespace.*`. */
function findRouteConfig(tools: Readonly<Record<string, ToolRouteConfig>>, id: string): ToolRouteConfig | undefined {
  if (Object.hasOwn(tools, id)) return tools[id]
  const parts = id.split('.')
  for (let length = parts.length - 1; length > 0; length--) {
    const pattern = `${parts.slice(0, length).join('.')}.*`
    if (Object.hasOwn(tools, pattern)) return tools[pattern]
  }
  return Object.hasOwn(tools, '*') ? tools['*'] : undefined
}

/** Replaces `${NAME}` in header values with environment variables, so that the config contains no secrets. */
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
