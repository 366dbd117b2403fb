/** Figures about a shared database that an operator should know. Leaves nothing in it. */
import { MAX_AHEAD_MS, outside } from '../../store-clock.ts'
import { hasState } from '../database/errors.ts'
import { checkSchemaVersions, readSchemaVersions } from '../database/migrate.ts'
import { openPool, type PostgresPool } from '../database/pool.ts'
import { SCHEMA } from '../open.ts'
import { refuseMovedDatabase, refuseOtherCluster, type ClusterIdentity } from './identity.ts'
import { checkTableRights } from './rights.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

export interface DatabaseProblem {
  readonly say: string
  readonly fix: string
}

export interface DatabaseHealth {
  readonly database: string
  readonly problems: readonly DatabaseProblem[]
  readonly summary: string
}

export interface DatabaseFigures {
  /** Seconds for which the oldest transaction has been open. */
  readonly longest: number
  /** Part of the queue of NOTIFY that is used, from 0 to 1. */
  readonly notify: number
  /** The table with the most dead rows, where they are many, and how many. */
  readonly bloated: string | null
  readonly dead: number
  /** Milliseconds since the start of the oldest session with work that no server has taken. */
  readonly unclaimed: number
  /** Seconds that the slowest replica is behind. */
  readonly lag: number
  /** It is a replica, or its user may only read. */
  readonly onlyReads: boolean
  /** Bytes of the whole database. */
  readonly size: number
}

export interface DatabaseState {
  /** Versions of the schema: of the database, and of this program. */
  readonly found: number
  readonly newest: number
  /** How far the clock of this machine is ahead of that of the database. */
  readonly offMs: number
  /** False where its disk is full. */
  readonly hasRoom: boolean
}

const LONG_TRANSACTION_S = 60
const FULL_QUEUE = 0.5
/** Dead rows beyond the living ones, in a table of some size. */
const BLOATED_ROWS = 10_000
/** If nobody has taken work for this long, no server is running. */
const UNCLAIMED_MS = 30_000
const LAG_S = 30

/**
 * @param ours whose database it should be
 * @throws Failure `store_unreachable`, `store_unreadable`, `store_not_migrated`, `store_moved`, `store_of_another`,
 * `store_rights_missing`, `postgres_client_missing`
 */
export async function lookAtDatabase(url: string, ours: ClusterIdentity, schema = SCHEMA): Promise<DatabaseHealth> {
  const pool = await openPool({ url, schema, name: 'svc doctor', connections: 1 })
  try {
    const { found, ...versions } = await readSchemaVersions(pool, schema)
    checkSchemaVersions(pool.database, { found, ...versions })
    await checkTableRights(pool, schema)
    await refuseMovedDatabase(pool)
    await refuseOtherCluster(pool, ours)
    const before = Date.now()
    const figures = await readFigures(pool, schema)
    // Of a slow answer, only how far the clocks are certainly apart.
    const offMs = -outside(figures.now, before, Date.now())
    const hasRoom = await findRoom(pool)
    return {
      database: pool.database,
      problems: findProblems({ ...figures, offMs, hasRoom, found, newest: versions.newest }, schema),
      summary: `schema ${found}, clock ${offMs} ms off, longest transaction ${seconds(figures.longest)}, ${Math.ceil(figures.size / MIB)} MiB`,
    }
  } finally {
    await pool.close()
  }
}

async function readFigures(pool: PostgresPool, schema: string): Promise<DatabaseFigures & { readonly now: number }> {
  const row = await pool.row<DatabaseFigures & { now: number }>(
    `select svc_now(null) as now,
       coalesce((select extract(epoch from max(clock_timestamp() - xact_start))::float8 from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
           and backend_type = 'client backend'), 0) as longest,
       pg_notification_queue_usage() as notify,
       coalesce(b.n_dead_tup, 0) as dead, b.relname as bloated,
       coalesce((select svc_now(null) - min(started_at) from session where busy and owner is null
         and restored_at is null), 0) as unclaimed,
       coalesce((select max(extract(epoch from replay_lag))::float8 from pg_stat_replication), 0) as lag,
       current_setting('transaction_read_only')::boolean as "onlyReads",
       pg_database_size(current_database()) as size
     from (select 1) one left join (
       select relname, n_dead_tup from pg_stat_user_tables
       where schemaname = :schema and n_dead_tup > greatest(n_live_tup, ${BLOATED_ROWS})
       order by n_dead_tup desc limit 1
     ) b on true`,
    { schema },
  )
  return expectDefined(row, 'the first part of the join always gives a row')
}

/** A database does not say how much room its disk has, so a table of this size is made and dropped. */
const MIB = 1024 * 1024
const ROOM_BYTES = 16 * MIB
const ROW_BYTES = 1024

/** True if there is room, and where the user may not try. */
async function findRoom(pool: PostgresPool): Promise<boolean> {
  return await pool.withClient(async (client) => {
    try {
      await client.query('begin')
      await client.query('create temporary table svc_room (filler text) on commit drop')
      await client.query(`alter table svc_room alter column filler set storage plain`)
      await client.query(
        `insert into svc_room select repeat('x', ${ROW_BYTES}) from generate_series(1, ${ROOM_BYTES / ROW_BYTES})`,
      )
      return true
    } catch (error) {
      return !hasState(error, DISK_FULL)
    } finally {
      await client.query('rollback')
    }
  })
}

/** SQLSTATE `disk_full`. */
const DISK_FULL = '53100'

/** The figures on which an operator should act, with the command or step that helps. */
export function findProblems(figures: DatabaseFigures & DatabaseState, schema = SCHEMA): readonly DatabaseProblem[] {
  const { found, newest, offMs, hasRoom, longest, notify, bloated, dead, unclaimed, lag, onlyReads } = figures
  const problems: DatabaseProblem[] = []
  const tell = (isSo: boolean, say: string, fix: string): void => void (isSo && problems.push({ say, fix }))
  tell(onlyReads, 'it only reads, so that no server works', 'Name the primary server, not a replica.')
  tell(found < newest, `schema ${found}, and this svc brings ${newest}`, 'svc store migrate')
  tell(
    Math.abs(offMs) > MAX_AHEAD_MS,
    `its clock is ${seconds(Math.abs(offMs) / 1000)} ${offMs > 0 ? 'behind' : 'ahead of'} that of this machine`,
    'Synchronize both clocks, for example with chrony.',
  )
  tell(
    !hasRoom,
    `its disk has no room for ${ROOM_BYTES / MIB} MiB: nothing new is accepted`,
    'Make room on the disk of the database.',
  )
  tell(
    longest > LONG_TRANSACTION_S,
    `a transaction has been open for ${seconds(longest)}, and keeps dead rows`,
    'select pid, query from pg_stat_activity order by xact_start; then pg_terminate_backend(pid)',
  )
  tell(
    notify > FULL_QUEUE,
    `the queue of NOTIFY is ${Math.round(notify * 100)} % full`,
    'End the session that listens and stays in a transaction.',
  )
  tell(bloated !== null, `${bloated} has ${dead} dead rows`, `vacuum ${schema}.${bloated}`)
  tell(unclaimed > UNCLAIMED_MS, `work waits ${seconds(unclaimed / 1000)} for a server`, 'svc workers list')
  tell(lag > LAG_S, `a replica is ${seconds(lag)} behind`, 'Look at its network and its disk.')
  return problems
}

const seconds = (value: number): string => `${value.toFixed(1)} s`
