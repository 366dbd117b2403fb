/** Fills a PostgreSQL database with many sessions, without writing each. */
import type { ClientBase, Pool } from 'pg'

/** Copies of a session, with other ids and times; written without waiting for the disk. */
export async function copySessions(db: ClientBase | Pool, like: string, count: number): Promise<void> {
  const own: Readonly<Record<string, string>> = {
    id: 'gen_random_uuid()',
    root_run_id: 'gen_random_uuid()',
    started_at: 's.started_at + g',
  }
  const { rows } = await db.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = 'svc' and table_name = 'session' and is_identity = 'NO' and is_generated = 'NEVER'`,
  )
  const names = rows.map(({ name }) => name)
  await db.query('set synchronous_commit = off')
  const CHUNK = 100_000
  for (let from = 0; from < count; from += CHUNK)
    await db.query(
      `insert into session (${names.join(', ')})
       select ${names.map((name) => own[name] ?? `s.${name}`).join(', ')}
       from session s, generate_series(${from + 1}, ${Math.min(count, from + CHUNK)}) g
       where s.id = $1`,
      [like],
    )
}
