import { fail } from '../../../base/failure.ts'
import type { PostgresPool } from '../database/pool.ts'

/** Checks that the user has the rights of a server on every table. @throws Failure `store_rights_missing` */
export async function checkTableRights(pool: PostgresPool, schema: string): Promise<void> {
  const row = await pool.row<{ what: string; name: string; user: string }>(
    `select p.what, c.relname as name, current_user as user
     from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       cross join unnest(array['select', 'insert', 'update', 'delete']) as p (what)
     where n.nspname = :schema and c.relkind in ('r', 'p') and not has_table_privilege(c.oid, p.what)
     order by c.relname, p.what
     limit 1`,
    { schema },
  )
  if (row)
    throw fail(
      'store_rights_missing',
      { database: pool.database, why: `${row.user} may not ${row.what} in ${schema}.${row.name}` },
      { fix: `As its owner: grant select, insert, update, delete on all tables in schema ${schema} to "${row.user}";` },
    )
}
