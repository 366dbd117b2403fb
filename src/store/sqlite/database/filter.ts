import type { Database, Statement } from 'better-sqlite3'

type ClauseValue = string | number

/** A clause and the value of its one parameter, or `true` when it has none. An undefined value leaves the clause out. */
export type FilterClause = readonly [sql: string, value: ClauseValue | true | undefined]

/** Joins the clauses that apply with `and`. There are few combinations, so `statementCache` prepares each text once. */
export function joinClauses(clauses: readonly FilterClause[]): {
  readonly where: string
  readonly values: Record<string, ClauseValue>
} {
  const applied = clauses.filter(([, value]) => value !== undefined)
  const values: Record<string, ClauseValue> = {}
  for (const [sql, value] of applied) {
    const name = /:(\w+)/.exec(sql)?.[1]
    if (name !== undefined && value !== undefined && value !== true) values[name] = value
  }
  return { where: applied.map(([sql]) => sql).join('\n  and ') || 'true', values }
}

/** The value for a clause that matches a list: `in (select value from json_each(:name))`. */
export const listClause = (values: readonly string[] | undefined): string | undefined =>
  values && JSON.stringify(values)

/** Prepares each SQL text at its first use and keeps the statement: for queries built from clauses. */
export function statementCache(db: Database): <Row>(sql: string) => Statement<[Record<string, unknown>], Row> {
  const statements = new Map<string, Statement<[Record<string, unknown>]>>()
  return <Row>(sql: string) => {
    let statement = statements.get(sql)
    if (!statement) statements.set(sql, (statement = db.prepare<Record<string, unknown>>(sql)))
    return statement as Statement<[Record<string, unknown>], Row>
  }
}
