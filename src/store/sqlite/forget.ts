import type { Database } from 'better-sqlite3'

/** Each table before the one it refers to. */
const OF_RUNS = [
  'vote',
  'user_task',
  'timer',
  'call',
  'event',
  'step',
  'run',
  'session',
  'idempotency',
  'rate_bucket',
  'plan_day',
]

export function forgetRuns(db: Database): void {
  for (const table of OF_RUNS) db.exec(`delete from ${table}`)
  db.exec('update agent set sessions = 0, runs = 0')
}
