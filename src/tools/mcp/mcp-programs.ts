/**
 * The MCP servers that the project file runs as programs, by the address under which documents name them. A program is started once
 * for all runs, on first use, and again after a pause when it ended by itself.
 * Source: docs/design/models-and-tools.md#mcp-servers-as-programs
 */
import { resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import type { Log } from '../../base/log.ts'
import { UnsentError } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import type { McpProgramConfig, ProjectConfig } from '../../spec/project/config.ts'
import type { McpServer } from '../../spec/document.ts'
import { openMcpProgram, type McpLink } from './mcp-program.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface McpPrograms {
  /** Undefined for a server that is reached at its address. */
  find(server: McpServer): McpProgram | undefined
}

export interface McpProgram {
  /** The same for every agent: they share its process. */
  readonly key: string
  /** For the program to start and to answer the handshake. */
  readonly startMs: number
  /** A variable of the program that has no value. */
  findUnsetVariable(): string | undefined
  open(): McpLink
}

export interface McpProgramsParts {
  readonly config: Pick<ProjectConfig, 'mcp_servers'>
  /** Absolute directory of the config file. */
  readonly configDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly redactor: Redactor
  readonly clock: Clock
  readonly log: Log
}

/** The pause after a program ended by itself doubles from the first to the last. */
const FIRST_PAUSE_MS = 1000
const LAST_PAUSE_MS = 300_000

/** A program that ran this long did not fail to start. */
const STEADY_MS = 60_000

const DEFAULT_START_MS = 60_000

/** A browser that a server drives counts its shared memory several times. */
const DEFAULT_MEMORY = 4 * 2 ** 30

export function createMcpPrograms({ config, configDir, env, redactor, clock, log }: McpProgramsParts): McpPrograms {
  const programs = new Map<string, McpProgram>()
  for (const [url, each] of Object.entries(config.mcp_servers ?? {})) programs.set(keyOf(url), createProgram(url, each))

  function createProgram(url: string, { command, env: names = [], directory, ...bounds }: McpProgramConfig) {
    /** Ends in a row, and the last of them. */
    let failure: { readonly times: number; readonly until: number; readonly why: Error } | undefined
    const open = (): McpLink => {
      if (failure && clock.monotonic() < failure.until) return openNever(failure)
      for (const name of names) if (env[name]) redactor.add(env[name])
      const started = clock.monotonic()
      const cwd = resolve(configDir, directory ?? '.')
      const mostMemory = bounds.memory_bytes ?? DEFAULT_MEMORY
      return openMcpProgram({ argv: command, cwd, env, allow: names, mostMemory, redactor }, (why) => {
        const now = clock.monotonic()
        const times = now - started >= STEADY_MS ? 1 : (failure?.times ?? 0) + 1
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (times - 1), LAST_PAUSE_MS)
        failure = { times, until: now + pauseMs, why }
        log.write('warn', 'The program of an MCP server ended by itself.', {
          server: url,
          times,
          pauseMs,
          why: why.message,
        })
      })
    }
    return {
      key: `program ${keyOf(url)}`,
      startMs:
        (bounds.start_timeout === undefined ? undefined : parseDuration(bounds.start_timeout)) ?? DEFAULT_START_MS,
      findUnsetVariable: () => names.find((name) => !env[name]),
      open,
    }
  }

  return { find: ({ url }) => programs.get(keyOf(url)) }
}

/** The program that the project file runs in place of the server at this address. */
export const findProgramConfig = (
  { mcp_servers = {} }: Pick<ProjectConfig, 'mcp_servers'>,
  url: string,
): McpProgramConfig | undefined => Object.entries(mcp_servers).find(([each]) => keyOf(each) === keyOf(url))?.[1]

/** A link to a program that is not started before its pause is over. */
function openNever({ times, why }: { readonly times: number; readonly why: Error }): McpLink {
  const often = times === 1 ? '' : ` for the ${times}th time in a row`
  const message = `it ended${often} and is started again after a pause. ${why.message}`
  return {
    fetch: () => Promise.reject(new UnsentError(message, undefined, undefined)),
    close: () => Promise.resolve(),
  }
}

/** Addresses that differ in their spelling only are one. */
const keyOf = (url: string): string => parseUrl(url)?.href ?? url
