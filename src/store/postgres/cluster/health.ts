/** What an operator should know of a database that servers share. Reads only. */
import { checkSchemaVersions, readSchemaVersions } from '../database/migrate.ts'
import { openPool } from '../database/pool.ts'
import { SCHEMA } from '../open.ts'
import { findMissingRight } from './rights.ts'

export interface DatabaseProblem {
  readonly say: string
  readonly fix: string
}

export interface DatabaseHealth {
  readonly database: string
  readonly problems: readonly DatabaseProblem[]
  readonly summary: string
}

interface Figures {
  readonly now: number
  readonly longest: number
  readonly notify: number
  readonly dead: number
  readonly bloated: string | null
  readonly unclaimed: number
  readonly lag: number
}

const MAX_OFF_MS = 5000
const LONG_TRANSACTION_S = 60
const FULL_QUEUE = 0.5
/** Dead rows beyond the living ones, in a table of some size. */
const BLOATED_ROWS = 10_000
/** Work that nobody has taken for so long shows that no server serves. */
const UNCLAIMED_MS = 30_000
const LAG_S = 30

/** @throws Failure `store_unreachable`, `store_unreadable`, `store_not_migrated`, `postgres_client_missing` */
export async function lookAtDatabase(url: string, schema = SCHEMA): Promise<DatabaseHealth> {
  const pool = await openPool({ url, schema, name: 'svc doctor', connections: 1 })
  try {
    const versions = await readSchemaVersions(pool, schema)
    checkSchemaVersions(pool.database, versions)
    const problems: DatabaseProblem[] = []
    const tell = (isSo: boolean, say: string, fix: string): void => void (isSo && problems.push({ say, fix }))
    const right = await findMissingRight(pool, schema)
    if (right)
      tell(true, right.why, `grant select, insert, update, delete on all tables in schema ${schema} to "${right.user}"`)
    const before = Date.now()
    const found = (await pool.row<Figures>(
      `select svc_now(null) as now,
         coalesce((select extract(epoch from max(clock_timestamp() - xact_start))::float8 from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
             and backend_type = 'client backend'), 0) as longest,
         pg_notification_queue_usage() as notify,
         coalesce(b.n_dead_tup, 0) as dead, b.relname as bloated,
         coalesce((select svc_now(null) - min(started_at) from session where busy and owner is null
           and restored_at is null), 0) as unclaimed,
         coalesce((select max(extract(epoch from replay_lag))::float8 from pg_stat_replication), 0) as lag
       from (select 1) one left join (
         select relname, n_dead_tup from pg_stat_user_tables
         where schemaname = :schema and n_dead_tup > greatest(n_live_tup, ${BLOATED_ROWS})
         order by n_dead_tup desc limit 1
       ) b on true`,
      { schema },
    ))!
    const offMs = Math.round((before + Date.now()) / 2 - found.now)
    const seconds = (value: number): string => `${value.toFixed(1)} s`
    tell(
      versions.found < versions.newest,
      `schema ${versions.found}, and this svc brings ${versions.newest}`,
      'svc store migrate',
    )
    tell(
      Math.abs(offMs) > MAX_OFF_MS,
      `its clock is ${seconds(Math.abs(offMs) / 1000)} off`,
      'Synchronize both clocks.',
    )
    tell(
      found.longest > LONG_TRANSACTION_S,
      `a transaction has been open for ${seconds(found.longest)}, and keeps dead rows`,
      'select pid, query from pg_stat_activity order by xact_start; then pg_terminate_backend(pid)',
    )
    tell(
      found.notify > FULL_QUEUE,
      `the queue of NOTIFY is ${Math.round(found.notify * 100)} % full`,
      'End the session that listens and stays in a transaction.',
    )
    tell(found.bloated !== null, `${found.bloated} has ${found.dead} dead rows`, `vacuum ${schema}.${found.bloated}`)
    tell(
      found.unclaimed > UNCLAIMED_MS,
      `work waits ${seconds(found.unclaimed / 1000)} for a server`,
      'svc workers list',
    )
    tell(found.lag > LAG_S, `a replica is ${seconds(found.lag)} behind`, 'Look at its network and its disk.')
    return {
      database: pool.database,
      problems,
      summary: `schema ${versions.found}, clock ${offMs} ms off, longest transaction ${seconds(found.longest)}`,
    }
  } finally {
    await pool.close()
  }
}
