/** Checks of the machine: Node, SQLite, ports, disk and clock. */
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { toIsoText } from '../../base/clock.ts'
import { isFailure } from '../../base/failure.ts'
import { readServerFile } from '../project/server/running-server.ts'
import { readFreeBytes, spaceFinding } from './free-space.ts'
import { unhealthy, healthy, type DoctorChecks, type DoctorFinding } from './finding.ts'

const DEFAULT_PORT = 4310
/** The API, uploads, the console. */
const PORTS = [0, 1, 2]
/** Whoever runs Node 20 has a year from its end of life to change. */
const NODE_20_UNTIL = '2027-04-30'
/** Harmless inaccuracy of a clock that was set by hand. */
const CLOCK_SLACK_MS = 5 * 60_000

export const machineChecks: DoctorChecks = {
  async node({ io }) {
    return nodeFinding(process.versions.node, io.clock.now())
  },

  async sqlite() {
    const { describeSqlite } = await import('../../store/sqlite/database/connect.ts')
    try {
      return healthy(describeSqlite())
    } catch (error) {
      if (!isFailure(error)) throw error
      return unhealthy(error.message, error.fix)
    }
  },

  async ports({ io }, project) {
    const first = project?.config.dev?.port ?? DEFAULT_PORT
    const host = project?.config.dev?.host ?? '127.0.0.1'
    const ports = PORTS.map((offset) => first + offset)
    const ours = project && (await readServerFile(project.dataDirectory))
    const held = [ours?.url, ours?.uploadUrl, ours?.consoleUrl].flatMap((url) =>
      url ? [Number(new URL(url).port)] : [],
    )
    const taken: number[] = []
    for (const port of ports) if (!held.includes(port) && !(await isFree(host, port))) taken.push(port)
    const range = `${first}-${first + PORTS.length - 1}`
    // A server of another project is fine: svc dev skips its ports.
    if (taken.length > 0 && (await isServer(io.fetch, `http://${host}:${first}`)))
      return healthy(`${taken.join(', ')} taken by the server of another project; svc dev takes the next free ones`)
    if (taken.length > 0)
      return unhealthy(
        `${taken.join(', ')} taken by another program`,
        'svc dev takes the next free ones; svc serve --port N',
      )
    return healthy(held.some((port) => ports.includes(port)) ? `${range} (this project's server)` : range)
  },

  async disk({ cwd }, project) {
    return spaceFinding(await readFreeBytes(project?.dataDirectory ?? cwd))
  },

  async clock({ io }, project) {
    const now = io.clock.now()
    // The last write lies in the past, so an earlier clock is wrong.
    const written = project && (await stat(join(project.dataDirectory, 'data.db')).catch(() => undefined))?.mtimeMs
    return written !== undefined && written > now + CLOCK_SLACK_MS
      ? unhealthy(
          `${toIsoText(now)}, earlier than the last write of the data directory (${toIsoText(Math.round(written))})`,
          'Set the clock.',
        )
      : healthy(toIsoText(now))
  },
}

/** @param version of Node */
export function nodeFinding(version: string, now: number): DoctorFinding {
  const [major, minor] = version.split('.').map(Number) as [number, number]
  if (major < 20 || (major === 20 && minor < 19))
    return unhealthy(version, 'Install Node 24 (20.19 is the oldest that works).')
  if (major > 20) return healthy(version)
  const said = `${version}, past its end of life (2026-04-30); svc supports it until ${NODE_20_UNTIL}`
  return now < Date.parse(NODE_20_UNTIL) ? healthy(said) : unhealthy(said, 'Install Node 24.')
}

/** True where something answers as a server of svc does. */
async function isServer(fetch: typeof globalThis.fetch, url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/healthz`, { signal: AbortSignal.timeout(1000), redirect: 'error' })
    return response.headers.has('x-request-id') && (await response.text()) === '{"status":"ready"}'
  } catch {
    return false
  }
}

const isFree = (host: string, port: number): Promise<boolean> =>
  new Promise((done) => {
    const server = createServer()
    server.once('error', () => done(false))
    server.listen(port, host, () => server.close(() => done(true)))
  })
