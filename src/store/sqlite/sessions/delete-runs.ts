import type { Database } from 'better-sqlite3'

/** In the order of deletion: each table before the ones it references. */
const RUN_TABLES = [
  'vote',
  'user_task',
  'timer',
  'call',
  'event',
  'step',
  'session_link',
  'run',
  'session_tag',
  'kept_call',
  'session',
  'trace_mark',
  'idempotency',
  'rate_bucket',
  'plan_day',
  'cost_day',
]

export function deleteRunRows(db: Database): void {
  for (const index of ['run_input', 'run_output']) db.exec(`insert into ${index} (${index}) values ('delete-all')`)
  for (const table of RUN_TABLES) db.exec(`delete from ${table}`)
  db.exec('update agent set sessions = 0, runs = 0')
}
