import type { Database, Statement } from 'better-sqlite3'

/** Prepares each SQL text at its first use and keeps the statement: for queries built from clauses. */
export function statementCache(db: Database): <Row>(sql: string) => Statement<[Record<string, unknown>], Row> {
  const statements = new Map<string, Statement<[Record<string, unknown>]>>()
  return <Row>(sql: string) => {
    let statement = statements.get(sql)
    if (!statement) statements.set(sql, (statement = db.prepare<Record<string, unknown>>(sql)))
    return statement as Statement<[Record<string, unknown>], Row>
  }
}
