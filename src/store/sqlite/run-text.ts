/**
 * The words of runs. The view `run_text` says what a run's words are, and the indexes must be told exactly those words when
 * a run leaves them: every change of a run's input, output or end comes here first.
 */
import type { Database } from 'better-sqlite3'

export interface RunTextIndex {
  started(runN: number): void
  /** After the end of a run is stored. */
  ended(runN: number): void
  /** Before a run that has ended goes on. */
  resumed(runN: number): void
}

export function openRunText(db: Database): RunTextIndex {
  const prepare = (sql: string) => db.prepare<[number]>(sql)
  const [started, ended, resumed] = [
    prepare('insert into run_input (rowid, input) select n, input from run_text where n = ?'),
    prepare('insert into run_output (rowid, output) select n, output from run_text where n = ?'),
    prepare(`insert into run_output (run_output, rowid, output) select 'delete', n, output from run_text where n = ?`),
  ] as const
  return {
    started: (runN) => void started.run(runN),
    ended: (runN) => void ended.run(runN),
    resumed: (runN) => void resumed.run(runN),
  }
}

/** Run with the number of a session before its content is erased or its rows are deleted. */
export const FORGET_RUN_TEXT = [
  `insert into run_input (run_input, rowid, input)
   select 'delete', n, input from run_text where session_n = ?`,
  `insert into run_output (run_output, rowid, output)
   select 'delete', t.n, t.output from run_text t join run r on r.n = t.n
   where t.session_n = ? and r.finished_at is not null`,
] as const

/** Whether deleted words leave the index at once, not at its next merge. It makes every write of the index dearer. */
export function overwriteRunText(db: Database, isOn: boolean): void {
  for (const index of ['run_input', 'run_output'])
    db.exec(`insert into ${index} (${index}, rank) values ('secure-delete', ${Number(isOn)})`)
}
