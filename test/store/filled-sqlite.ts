/**
 * Rows for every table of the schema of SQLite, made from the schema itself: each column has a value somewhere, so that a column
 * which a copy forgets is missed.
 */
import type { Database } from 'better-sqlite3'
import { nameBasedId } from '../../src/base/ids.ts'

const ROWS = 3
/** Kept by triggers, or by the index of words. */
const MADE = /^(?:session_count|run_(?:input|output).*|sqlite_.*)$/
/** Columns with ids that are UUIDs. */
const UUIDS: Readonly<Record<string, readonly string[]>> = {
  session: ['id', 'root_run_id', 'entry_run_id'],
  run: ['id', 'parent_run_id'],
  step: ['id'],
  kept_call: ['session_id', 'run_id'],
  effect: ['session_id', 'run_id'],
  task_claim: ['task_id'],
  notice: ['session_id', 'run_id', 'task_id'],
  act: ['session_id', 'run_id'],
  trace_mark: ['session_id'],
}
const STATUSES = ['Running', 'WaitingForHITL', 'Completed']

interface Column {
  readonly name: string
  readonly type: string
}

export function fillSqlite(db: Database): void {
  db.transaction(() => {
    db.pragma('defer_foreign_keys = on')
    for (const table of tablesOf(db)) for (let row = 1; row <= ROWS; row++) insertRow(db, table, row)
    db.exec(`update agent set sessions = (select count(*) from session where agent_n = agent.n),
      runs = (select count(*) from run where agent_n = agent.n)`)
    db.exec('insert into run_input (rowid, input) select n, input from run_text')
    db.exec(`insert into run_output (rowid, output)
      select t.n, t.output from run_text t join run r on r.n = t.n where r.finished_at is not null`)
  })()
}

export const tablesOf = (db: Database): readonly string[] =>
  db
    .prepare<[], string>(`select name from sqlite_schema where type = 'table' order by rowid`)
    .pluck()
    .all()
    .filter((name) => !MADE.test(name))

/** All rows of every table, those that are kept by triggers too. */
export const dumpSqlite = (db: Database): Readonly<Record<string, readonly object[]>> =>
  Object.fromEntries(
    [...tablesOf(db), 'session_count'].map((table) => [
      table,
      db
        .prepare<[], object>(`select * from ${table}`)
        .all()
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    ]),
  )

function insertRow(db: Database, table: string, row: number): void {
  const columns = db.pragma(`table_info(${table})`) as readonly Column[]
  const values = columns.map(({ name, type }) => valueOf(db, table, name, type, row))
  const places = columns.map(() => '?').join(', ')
  db.prepare(`insert into ${table} (${columns.map(({ name }) => name).join(', ')}) values (${places})`).run(values)
}

function valueOf(db: Database, table: string, name: string, type: string, row: number): string | number | null {
  const foreign = (db.pragma(`foreign_key_list(${table})`) as { from: string; table: string; to: string }[]).find(
    ({ from }) => from === name,
  )
  if (foreign && foreign.to !== 'n') return valueOf(db, foreign.table, foreign.to, 'TEXT', row)
  if (foreign || name === 'n') return row
  const own = OWN[`${table}.${name}`]
  if (own) return own(row)
  const sql = db.prepare<[string], string>('select sql from sqlite_schema where name = ?').pluck().get(table)!
  if (UUIDS[table]?.includes(name)) return nameBasedId(table, name, String(row))
  const choices = new RegExp(`check \\(${name} in\\s*\\(([^)]*)\\)`).exec(sql)?.[1]
  if (choices) {
    const all = choices.split(',').map((each) => each.trim())
    const choice = all[row % all.length]!
    return choice.startsWith("'") ? choice.slice(1, -1) : Number(choice)
  }
  if (sql.includes(`json_valid(${name})`)) return `{"z":${row},"a":"x\\u0000\\ud800é","${name}":[1.0]}`
  return type === 'INTEGER' ? 1000 + row : `${table} ${name} ${row} é\n`
}

const OWN: Readonly<Record<string, (row: number) => string | number | null>> = {
  'session.status': (row) => STATUSES[row - 1]!,
  'session.finished_at': (row) => (row === 3 ? 9000 : null),
  // An erased one would have no words.
  'session.erased_at': (row) => (row === 2 ? 9001 : null),
  // Nobody holds a copy.
  'session.owner': () => null,
  'session.lease_until': () => null,
  'run.status': (row) => STATUSES[row - 1]!,
  'run.finished_at': (row) => (row === 3 ? 9000 : null),
  'run.starter': (row) => `{"triggerId":"t${row}"}`,
  'run.origin': (row) => `{"runId":"${nameBasedId('origin', String(row))}","at":${row}}`,
  'version.yanked': (row) => (row === 2 ? 0 : 1),
  'version.yank_reason': (row) => (row === 2 ? null : `why ${row}`),
  'file.size_bytes': (row) => (row === 2 ? null : row),
  'file.finalized_at': (row) => (row === 2 ? null : row),
  'cost_day.amount': (row) => ['0', '0.0031', '12345678901234567890.5'][row - 1]!,
  'plan_reservation.amount': (row) => ['0.25', '17', null][row - 1]!,
  'plan_reservation.currency': (row) => ['EUR', 'USD', null][row - 1]!,
}
