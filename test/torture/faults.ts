/** What goes wrong, at moments that a seed chooses: servers end and freeze, and the database loses connections and restarts. */
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'
import type { PostgresServer } from '../store/postgres-server.ts'
import type { Fleet } from './fleet.ts'

export interface FaultOptions {
  readonly fleet: Fleet
  readonly postgres: PostgresServer
  readonly database: string
  readonly random: () => number
  readonly seconds: number
  readonly leaseMs: number
  readonly plan: FaultPlan
}

/** Everything, in turn; servers that freeze, and nothing else; or nothing, while a proxy loses, cuts and delays replies of the database. */
export type FaultPlan = 'everything' | 'freezes' | 'bad network'

/** Between two faults. */
const EVERY_MS = 700
/** The database restarts every so many seconds, and the servers are replaced one after the other. */
const RESTART_DATABASE_EVERY = 25
const REPLACE_ALL_EVERY = 40

type FaultName = 'kill' | 'freeze' | 'cut' | 'restart database' | 'replace all'

/** Resolves when the time is over and every server is up and awake again. @returns how often each happened */
export async function goWrong(options: FaultOptions): Promise<Readonly<Record<FaultName, number>>> {
  const { fleet, postgres, database, random, seconds, leaseMs, plan } = options
  const counts: Record<FaultName, number> = { kill: 0, freeze: 0, cut: 0, 'restart database': 0, 'replace all': 0 }
  const busy = new Set<number>()
  const underWay = new Set<Promise<void>>()
  const startedAt = performance.now()
  const passed = (): number => (performance.now() - startedAt) / 1000

  /** Does something to a server while nothing else is done to it. */
  function withServer(at: number, act: () => Promise<void>): void {
    busy.add(at)
    const done: Promise<void> = act().finally(() => {
      busy.delete(at)
      underWay.delete(done)
    })
    underWay.add(done)
  }

  async function replace(at: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await fleet.stop(at, signal)
    // A server that meets a database which is just starting ends, as does one in a container: it is started again.
    while (
      !(await fleet.start(at).then(
        () => true,
        () => false,
      ))
    )
      await after(500)
  }

  function freeze(at: number): void {
    counts.freeze++
    withServer(at, async () => {
      fleet.freeze(at)
      await after(leaseMs * (0.6 + 2 * random()))
      fleet.thaw(at)
    })
  }

  async function cutConnections(): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.url(database) })
    client.on('error', () => {})
    await client.connect()
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and random() < 0.3`,
    )
    await client.end()
  }

  let restarts = 0
  let replacements = 0
  while (passed() < seconds) {
    await after(EVERY_MS * (0.5 + random()))
    const free = fleet.awake().filter((at) => !busy.has(at))
    const at = free[Math.floor(random() * free.length)]
    const chance = random()
    if (plan === 'bad network') continue
    if (plan === 'freezes') {
      if (free.length > 1) freeze(at!)
    } else if (passed() > (restarts + 1) * RESTART_DATABASE_EVERY) {
      restarts++
      counts['restart database']++
      postgres.crash()
      await after(random() * 4000)
      postgres.start()
    } else if (passed() > (replacements + 1) * REPLACE_ALL_EVERY) {
      replacements++
      counts['replace all']++
      for (const each of free) {
        busy.add(each)
        await replace(each, 'SIGTERM').finally(() => busy.delete(each))
      }
    } else if (chance < 0.3 || at === undefined) {
      counts.cut++
      await cutConnections().catch(() => {})
    } else if (free.length > 1 && chance < 0.65) {
      counts.kill++
      withServer(at, () => replace(at, 'SIGKILL'))
    } else if (free.length > 1) {
      freeze(at)
    }
  }
  await Promise.all(underWay)
  return counts
}
