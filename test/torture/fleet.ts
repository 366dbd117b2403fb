/** Real server processes of one project on one database: they are started, killed, frozen and replaced. */
import { join } from 'node:path'
import { serve, type Project, type ServerProcess } from '../e2e/program.ts'
import { bucketUrl } from '../bucket.ts'

export interface Fleet {
  /** Addresses of the servers that are up, frozen ones included. */
  urls(): readonly string[]
  /** Places of servers that are up and awake. */
  awake(): readonly number[]
  readonly size: number
  start(at: number): Promise<void>
  stop(at: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  freeze(at: number): void
  thaw(at: number): void
  /** What servers wrote last that ended by themselves. */
  crashes(): readonly string[]
}

export interface FleetOptions {
  readonly project: Project
  readonly size: number
  readonly env: Readonly<Record<string, string>>
  /** In the build for tests. */
  readonly failpoint?: string
}

/** Characters of a log. */
const LAST_WORDS = 500

export function createFleet({ project, size, env, failpoint }: FleetOptions): Fleet {
  const servers: (ServerProcess | undefined)[] = Array.from({ length: size })
  const frozen = new Set<number>()
  const crashes: string[] = []
  return {
    size,
    urls: () => servers.flatMap((each) => (each ? [each.url] : [])),
    awake: () => servers.flatMap((each, at) => (each && !frozen.has(at) ? [at] : [])),
    async start(at) {
      const own = ['--data', join(project.directory, `server-${at}`)]
      const storage = ['--storage', await bucketUrl()]
      const options = { cwd: project.directory, env, ...(failpoint !== undefined && { failpoint }) }
      const server = await serve([...own, ...storage], options)
      servers[at] = server
      void server.died.then(() => {
        if (servers[at] !== server) return
        servers[at] = undefined
        crashes.push(server.stderr().slice(-LAST_WORDS))
      })
    },
    async stop(at, signal) {
      const server = servers[at]
      if (!server) return null
      servers[at] = undefined
      if (frozen.delete(at)) server.process.kill('SIGCONT')
      return server.stop(signal)
    },
    freeze(at) {
      if (servers[at]?.process.kill('SIGSTOP')) frozen.add(at)
    },
    thaw(at) {
      if (frozen.delete(at)) servers[at]?.process.kill('SIGCONT')
    },
    crashes: () => crashes,
  }
}
