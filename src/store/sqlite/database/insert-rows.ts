import type { Database, Statement } from 'better-sqlite3'

/** Rows of one statement. Each number of rows has a statement of its own, which stays prepared. */
const MOST_ROWS = 8

type Row = readonly (string | number | null)[]

/** Inserts several rows with one statement: to bind and run it costs more than one row of it. @param into table and columns */
export function prepareInsert(db: Database, into: string, columns: number): (rows: readonly Row[]) => void {
  const row = `(${Array.from({ length: columns }, () => '?').join(', ')})`
  const prepared: Statement[] = []
  return (rows) => {
    for (let at = 0; at < rows.length; at += MOST_ROWS) {
      const some = rows.slice(at, at + MOST_ROWS)
      prepared[some.length] ??= db.prepare(`insert into ${into} values ${some.map(() => row).join(', ')}`)
      prepared[some.length]?.run(...some.flat())
    }
  }
}
