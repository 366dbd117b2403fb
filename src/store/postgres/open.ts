import { randomInt, randomUUID } from 'node:crypto'
import { ownStoreClock, systemClock, type Clock, type StoreClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { fail } from '../../base/failure.ts'
import { createStoreClock, type MeasuredClock } from '../store-clock.ts'
import type { Store } from '../store.ts'
import { checkCluster, refuseMovedDatabase, type ClusterIdentity } from './cluster/identity.ts'
import { checkTableRights } from './cluster/rights.ts'
import { workerMethods } from './cluster/workers.ts'
import { costReads } from './spending/costs.ts'
import { createHints } from './database/hints.ts'
import { createOutageLog } from '../outage-log.ts'
import { checkSchemaVersions, readSchemaVersions } from './database/migrate.ts'
import type { DatabaseMoment } from './database/moment.ts'
import { openPool, type PostgresPool } from './database/pool.ts'
import { openPostgresKeys } from './keys.ts'
import { recordingPool, recordingRunners } from './acts.ts'
import { createWorkRunners } from './database/run-work.ts'
import { bindPostgresNouns } from './nouns.ts'
import { deletionMethods } from './sessions/delete-sessions.ts'
import { erasureMethods } from './sessions/erase-session.ts'
import { leaseMethods } from './sessions/leases.ts'
import { restoredMethods } from './sessions/restored.ts'
import { labelMethods } from './sessions/session-labels.ts'
import { sessionReads } from './sessions/sessions.ts'
import { taskReads } from './tasks.ts'
import { timerReads } from './timers.ts'
import { openPostgresUpdates } from './updates.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string
  readonly schema?: string
  /** Replaces the clock of the database in tests. */
  readonly clock?: Clock
  /** The clock of this process, which decides nothing. */
  readonly processClock?: Clock
  /** Connections of the pool; one more listens. */
  readonly connections?: number
  /** Whose store it is: recorded by the first server, and compared by the others. */
  readonly cluster?: ClusterIdentity
  /** Log of a server, for times when the database cannot be used. */
  readonly log?: Log
}

/** Schema of our tables, unless a test names another. */
export const SCHEMA = 'svc'
const CONNECTIONS = 10
/** Source: docs/design/several-processes.md#time */
const MAX_OFF_MS = 5000
/** Rows over which the kept counts of an agent are spread. */
const SHARDS = 32

/**
 * Opens the store for one of several processes. Writes and reads go to the database, and nothing that an operator can revoke is
 * cached. The schema must be migrated.
 * @throws Failure `clock_off`, `store_moved`, `store_rights_missing`, `store_of_another`, `store_unreachable`, `store_not_migrated`, `store_unreadable`, `postgres_client_missing`
 */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { url, schema = SCHEMA, connections = CONNECTIONS } = options
  const self = randomUUID().slice(0, 8)
  const outages = options.log && createOutageLog(options.log)
  const pool = await openPool({ url, schema, name: `svc ${self}`, connections, ...(outages && { outages }) })
  try {
    checkSchemaVersions(pool.database, await readSchemaVersions(pool, schema))
    await refuseMovedDatabase(pool)
    await checkTableRights(pool, schema)
    if (options.cluster) await checkCluster(pool, options.cluster)
    const { clock: given } = options
    const moment: DatabaseMoment = { isGiven: given !== undefined, now: () => given?.now() ?? null }
    if (given) return createPostgresStore(pool, schema, self, { clock: ownStoreClock(given), moment, stop: () => {} })
    const clock = await measureClock(pool, options)
    return createPostgresStore(pool, schema, self, { clock, moment, stop: () => clock.close() })
  } catch (error) {
    await pool.close()
    throw error
  }
}

/** The database's clock, followed from now on. @throws Failure `clock_off` where this machine's differs so much that nothing may begin */
async function measureClock(
  pool: PostgresPool,
  { processClock = systemClock, log }: PostgresOptions,
): Promise<MeasuredClock> {
  const clock = createStoreClock({
    clock: processClock,
    ask: async () => {
      const row = await pool.row<{ now: number }>('select svc_now(null) as now')
      return expectDefined(row, 'a call always gives a row').now
    },
    changed: (aheadMs) => log && logClock(log, aheadMs),
  })
  await clock.measure()
  const aheadMs = clock.aheadMs()
  if (Math.abs(aheadMs) > MAX_OFF_MS) throw fail('clock_off', { database: pool.database, seconds: aheadMs / 1000 })
  clock.begin()
  return clock
}

function logClock(log: Log, aheadMs: number): void {
  if (aheadMs === 0) return log.write('info', 'the clock agrees with that of the database again')
  log.write('error', 'the clock differs from that of the database: this server takes no work and fires no timers', {
    aheadSeconds: aheadMs / 1000,
  })
}

interface StoreTime {
  readonly clock: StoreClock
  readonly moment: DatabaseMoment
  readonly stop: () => void
}

function createPostgresStore(
  pool: PostgresPool,
  schema: string,
  self: string,
  { clock, moment, stop }: StoreTime,
): Store {
  const hints = createHints(pool, schema, self)
  const keys = openPostgresKeys(pool)
  const { drained, ...updates } = openPostgresUpdates({ pool, moment, hints, shard: randomInt(SHARDS) })
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    stop()
    await drained()
    await keys.writeUses().catch(() => {})
    await hints.close()
    await pool.close()
  }

  return {
    clock,
    ...costReads(pool),
    ...deletionMethods(pool),
    ...bindPostgresNouns(createWorkRunners(pool), hints, keys),
    ...labelMethods(pool),
    ...erasureMethods(pool, hints),
    ...leaseMethods(pool, moment, hints),
    ...restoredMethods(pool),
    ...sessionReads(pool, moment),
    ...taskReads(pool),
    ...timerReads(pool, moment),
    ...updates,
    ...workerMethods(pool, moment),
    hints: (signal) => hints.follow(signal),
    recording(act) {
      const recorded = recordingPool(pool, act)
      return {
        ...bindPostgresNouns(recordingRunners(recorded), hints, keys),
        ...deletionMethods(recorded),
        ...restoredMethods(recorded),
        ...labelMethods(recorded),
        ...erasureMethods(recorded, hints),
      }
    },
    async backup() {
      throw fail('backup_elsewhere', { database: pool.database })
    },
    close: () => (closing ??= close()),
  }
}
