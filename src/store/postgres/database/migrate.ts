/** Brings the schema of a database to the newest version. */
import { fail } from '../../../base/failure.ts'
import { refuseNewer, refuseUnreleased } from '../../refuse-schema.ts'
import type { PostgresPool } from './pool.ts'
import { readMigrationFiles } from '../../migration-files.ts'

/** Oldest version of the schema that this program reads and writes: it names columns of each migration up to this one. */
export const OLDEST_READ = 14

/** Which list of migrations the versions count. Development versions had another one and did not record it. */
const SERIES = 2

export interface SchemaVersions {
  /** Version of the database; 0 if it has none of our tables. */
  readonly found: number
  readonly newest: number
  /** Oldest program version of the schema that may go on with the database. */
  readonly minReader: number
}

/**
 * @throws Failure `store_unreadable` for a schema of another program or of an svc from before the first release, `store_rights_missing`
 */
export async function readSchemaVersions(pool: PostgresPool, schema: string): Promise<SchemaVersions> {
  const newest = readMigrations().length
  const tables = await pool.rows<{ name: string; usable: boolean; user: string }>(
    `select c.relname as name, has_schema_privilege(n.oid, 'usage') as usable, current_user as user
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = :schema and c.relkind in ('r', 'p') order by 1`,
    { schema },
  )
  const [first] = tables
  if (first === undefined) return { found: 0, newest, minReader: 0 }
  // Without the right, its tables would look missing.
  if (!first.usable)
    throw fail(
      'store_rights_missing',
      { database: pool.database, why: `${first.user} may not use the schema ${schema}` },
      { fix: `As its owner: grant usage on schema ${schema} to "${first.user}";` },
    )
  if (!tables.some(({ name }) => name === 'svc_schema'))
    throw fail(
      'store_unreadable',
      { file: pool.database, why: `its schema ${schema} belongs to another program` },
      { fix: 'Name a database of its own.' },
    )
  const row = await pool.row<{ version: number; min_reader: number; series: string | null }>(
    // As JSON, because the tables of development versions have no such column.
    `select version, min_reader, to_jsonb(s) ->> 'series' as series from svc_schema s`,
  )
  if (row && row.series !== String(SERIES)) throw refuseUnreleased(pool.database, row.version)
  return { found: row?.version ?? 0, newest, minReader: row?.min_reader ?? 0 }
}

/**
 * Refuses a schema that this program cannot work with.
 * @throws Failure `store_unreadable`, `store_not_migrated`
 */
export function checkSchemaVersions(database: string, { found, newest, minReader }: SchemaVersions): void {
  if (minReader > newest) throw refuseNewer(database, found, newest)
  if (found < OLDEST_READ) throw fail('store_not_migrated', { database, found, newest })
}

/**
 * Applies what is missing, each migration in a transaction of its own. Processes that migrate at the same time wait for each other.
 * @returns the versions before
 * @throws Failure `store_unreadable`, `store_rights_missing`
 */
export async function migratePostgres(
  pool: PostgresPool,
  schema: string,
  migrations = readMigrations(),
): Promise<SchemaVersions> {
  const before = { ...(await readSchemaVersions(pool, schema)), newest: migrations.length }
  if (before.minReader > before.newest) checkSchemaVersions(pool.database, before)
  if (before.found >= before.newest) return before
  await pool.alone(async (client) => {
    // The lock ends with its transaction: one of the session would stay where a pooler gives the next transaction another connection.
    const step = async <T>(work: () => Promise<T>): Promise<T> => {
      await client.query('begin')
      await client.query('set local statement_timeout = 0')
      await client.query(`select pg_advisory_xact_lock(hashtextextended('svc migration ' || $1, 0))`, [schema])
      const value = await work()
      await client.query('commit')
      return value
    }
    await step(async () => {
      // Asked first: within a transaction, "if not exists" may not see what was committed while it waited for the lock.
      const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [schema])
      if (rows.length === 0) await client.query(`create schema "${schema}"`)
      await client.query(
        // Workspace and bucket say whose database it is, so that servers of others are refused; `moved_to` where its content went.
        `create table if not exists svc_schema (
             version integer not null, min_reader integer not null, series integer not null default ${SERIES},
             cluster uuid not null default gen_random_uuid(), workspace text, bucket text, moved_to text
           )`,
      )
      await client.query(
        'insert into svc_schema (version, min_reader) select 0, 0 where not exists (select 1 from svc_schema)',
      )
    })
    for (const [index, sql] of migrations.entries())
      await step(async () => {
        const { rows } = await client.query<{ version: number }>('select version from svc_schema')
        if (rows.some(({ version }) => index < version)) return
        await client.query(sql)
        await client.query('update svc_schema set version = $1, min_reader = greatest(min_reader, $2)', [
          index + 1,
          minReaderOf(sql),
        ])
      })
  })
  return before
}

/** A migration says with `-- min_reader: 3` that programs which know only older versions of the schema must not go on. */
const minReaderOf = (sql: string): number => Number(/^-- min_reader: (\d+)$/m.exec(sql)?.[1] ?? 0)

/** A build has the directory beside the bundle or one level above its chunks; the sources have it one level above this file. */
const readMigrations = (): readonly string[] =>
  readMigrationFiles(['./postgres-migrations/', '../postgres-migrations/', '../migrations/'], import.meta.url)
