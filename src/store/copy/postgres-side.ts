import type { PoolClient } from 'pg'
import { fail, isFailure } from '../../base/failure.ts'
import { checkSchemaVersions, migratePostgres, readSchemaVersions } from '../postgres/database/migrate.ts'
import { toJsonRows } from '../postgres/database/named-values.ts'
import { openPool, type PostgresPool } from '../postgres/database/pool.ts'
import { toStoreFailure } from '../postgres/database/errors.ts'
import { SILENT_WORKER_MS } from '../worker.ts'
import type { CopiedColumn, CopiedRow, CopiedTable } from './copied-table.ts'
import type { CopySource, CopyTarget } from './copy-side.ts'

/** Rows that are read at a time. */
const FETCHED = 200
const FETCHED_HEAVY = 10

/**
 * A database, and one connection that reads or writes in one transaction.
 * @throws Failure `store_unreachable`, `store_unreadable`, `store_not_migrated`, `store_served`, `store_moved`
 */
async function openDatabaseSide(url: string, schema: string, isTarget: boolean) {
  const pool = await openPool({ url, schema, name: 'svc store copy', connections: 3 })
  try {
    const versions = await readSchemaVersions(pool, schema)
    // A new database has nothing that a migration could disturb.
    if (isTarget && versions.found === 0) await migratePostgres(pool, schema)
    else checkSchemaVersions(pool.database, versions)
    await refuseServed(pool)
    const row = await pool.row<{ moved_to: string | null }>('select moved_to from svc_schema')
    if (row?.moved_to) throw fail('store_moved', { store: pool.database, to: row.moved_to })
    return { pool, ...(await beginTransaction(pool)) }
  } catch (error) {
    await pool.close()
    throw error
  }
}

async function refuseServed(pool: PostgresPool): Promise<void> {
  const row = await pool.row<{ id: string }>(
    `select id from worker where seen_at > svc_now(null) - ${SILENT_WORKER_MS} order by seen_at desc limit 1`,
  )
  if (row) throw fail('store_served', { store: pool.database, worker: row.id })
}

interface OpenTransaction {
  readonly client: PoolClient
  /** Runs work on the connection; failures are those of the store. */
  readonly translated: <T>(work: () => Promise<T>) => Promise<T>
  readonly end: (how: 'commit' | 'rollback') => Promise<void>
}

async function beginTransaction(pool: PostgresPool): Promise<OpenTransaction> {
  const client = await pool.connect()
  let isOpen = true
  const translated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw toStoreFailure(error, pool.database)
    }
  }
  await translated(async () => {
    await client.query('set statement_timeout = 0')
    await client.query('set idle_in_transaction_session_timeout = 0')
    await client.query('begin isolation level repeatable read')
  })
  return {
    client,
    translated,
    async end(how) {
      if (!isOpen) return
      isOpen = false
      try {
        await translated(() => client.query(how))
      } finally {
        // Its settings are not those of the pool.
        client.release(true)
      }
    },
  }
}

export async function openPostgresSource(url: string, schema: string): Promise<CopySource> {
  const { pool, client, translated, end } = await openDatabaseSide(url, schema, false)
  const setMoved = (to: string | null) => pool.run('update svc_schema set moved_to = :to', { to })
  try {
    // Writers wait until the copy is made, or give up, so that the copy misses no row.
    await translated(() =>
      client.query('lock table session, run, agent, version, run_trigger, api_key, file in share mode'),
    )
  } catch (error) {
    await end('rollback')
    await pool.close()
    throw isFailure(error, 'store_busy')
      ? fail('store_served', { store: pool.database, worker: 'another command' })
      : error
  }
  return {
    name: pool.database,
    rows: (table) => readRows(client, translated, table),
    markMoved: async (to) => void (await setMoved(to)),
    unmarkMoved: async () => void (await setMoved(null)),
    async close() {
      await end('rollback')
      await pool.close()
    },
  }
}

export async function openPostgresTarget(url: string, schema: string): Promise<CopyTarget> {
  const { pool, client, translated, end } = await openDatabaseSide(url, schema, true)
  return {
    name: pool.database,
    findFilled: (tables) =>
      translated(async () => {
        for (const { name } of tables)
          if ((await client.query(`select 1 from ${name} limit 1`)).rows.length > 0) return name
        return undefined
      }),
    write: (table, rows) =>
      translated(async () => void (await client.query(writeSql(table), [toJsonRows(toObjects(table, rows))]))),
    finish: () =>
      translated(async () => {
        for (const sql of FINISH) await client.query(sql)
      }),
    rows: (table) => readRows(client, translated, table),
    commit: () => end('commit'),
    async close() {
      await end('rollback')
      await pool.close()
    },
  }
}

async function* readRows(
  client: PoolClient,
  translated: OpenTransaction['translated'],
  table: CopiedTable,
): AsyncGenerator<CopiedRow> {
  await translated(() => client.query(`declare copied no scroll cursor for ${selectSql(table)}`))
  const most = table.isHeavy ? FETCHED_HEAVY : FETCHED
  try {
    for (;;) {
      const { rows } = await translated(() =>
        client.query<CopiedRow & unknown[]>({ text: `fetch ${most} from copied`, rowMode: 'array' }),
      )
      yield* rows
      if (rows.length < most) break
    }
  } finally {
    // Also where the reader stops early. After an error the transaction has ended, and the cursor with it.
    await client.query('close copied').catch(() => {})
  }
}

function selectSql({ name, columns, order, sums, where }: CopiedTable): string {
  const selected = columns.map((column) => readExpression(column, sums?.includes(column.name) ?? false))
  const byName = new Map(columns.map((column) => [column.name, column]))
  const by = order.map((column) => (byName.get(column)?.kind === 'text' ? `t.${column} collate "C"` : `t.${column}`))
  const kept = columns.filter((column) => !sums?.includes(column.name)).map((column) => `t.${column.name}`)
  return [
    `select ${selected.join(', ')} from ${name} t`,
    where === undefined ? '' : `where ${where}`,
    sums === undefined ? '' : `group by ${kept.join(', ')}`,
    `order by ${by.join(', ')}`,
  ].join(' ')
}

function readExpression({ name, kind }: CopiedColumn, isSum: boolean): string {
  const value = isSum ? `sum(t.${name})` : `t.${name}`
  if (kind === 'uuid') return `${value}::text as ${name}`
  // As the shortest text, as SQLite has it.
  if (kind === 'decimal') return `trim_scale(${value})::text as ${name}`
  return `${value}${isSum ? '::bigint' : ''} as ${name}`
}

function writeSql({ name, columns, derived = {}, sums, update }: CopiedTable): string {
  const given = `json_populate_recordset(null::${name}, $1::json) with ordinality as p`
  if (update) {
    const set = columns.slice(1).map((column) => `${column.name} = p.${column.name}`)
    return `update ${name} t set ${set.join(', ')} from ${given} where t.id = p.id`
  }
  const more = { ...derived, ...(sums && { shard: '0' }) }
  const names = [...columns.map((column) => column.name), ...Object.keys(more)]
  const values = [...columns.map((column) => `p.${column.name}`), ...Object.values(more)]
  return `insert into ${name} (${names.join(', ')}) select ${values.join(', ')} from ${given} order by p.ordinality`
}

const toObjects = ({ columns }: CopiedTable, rows: readonly CopiedRow[]): readonly object[] =>
  rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])))

/** Ends the mark that a copy left. @returns where its content was copied to */
export async function reopenDatabase(url: string, schema: string): Promise<string | undefined> {
  const pool = await openPool({ url, schema, name: 'svc store copy', connections: 1 })
  try {
    checkSchemaVersions(pool.database, await readSchemaVersions(pool, schema))
    const row = await pool.row<{ to: string | null }>(
      `with before as (select moved_to from svc_schema for update)
       update svc_schema set moved_to = null from before returning before.moved_to as to`,
    )
    return row?.to ?? undefined
  } finally {
    await pool.close()
  }
}

const FINISH = [
  `insert into agent_count (workspace_id, agent_id, what, shard, counted)
   select workspace_id, agent_id, status, 0, count(*) from session group by workspace_id, agent_id, status`,
  `insert into agent_count (workspace_id, agent_id, what, shard, counted)
   select workspace_id, agent_id, 'runs', 0, count(*) from run group by workspace_id, agent_id`,
  `insert into run_words (session_id, run_id, is_output, words)
   select r.session_id, r.id, w.is_output, w.words
   from run r join session s on s.id = r.session_id
     cross join lateral (
       select false as is_output, words_of(case when r.parent_run_id is null then s.input else r.input end) as words
       union all
       select true, words_of(concat_ws(' ', left(r.output, 20000), r.error, r.error_code)) where r.finished_at is not null
     ) w
   where s.erased_at is null`,
]
