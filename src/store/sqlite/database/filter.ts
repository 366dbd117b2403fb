import type { Database, Statement } from 'better-sqlite3'

type ClauseValue = string | number

/** A clause and the value of its one parameter (or `true`, where it has none); without a value the clause is left out. */
export type FilterClause = readonly [sql: string, value: ClauseValue | true | undefined]

/** Joins the clauses that apply. The result is one of few texts, so its statement is prepared once. */
export function allOf(clauses: readonly FilterClause[]): {
  readonly where: string
  readonly values: Record<string, ClauseValue>
} {
  const given = clauses.filter(([, value]) => value !== undefined)
  const values: Record<string, ClauseValue> = {}
  for (const [sql, value] of given) {
    const name = /:(\w+)/.exec(sql)?.[1]
    if (name !== undefined && value !== undefined && value !== true) values[name] = value
  }
  return { where: given.map(([sql]) => sql).join('\n  and ') || 'true', values }
}

/** The value of a clause that reads a list: `in (select value from json_each(:name))`. */
export const listClause = (values: readonly string[] | undefined): string | undefined =>
  values && JSON.stringify(values)

/** Prepares a text once, at its first use: for queries put together from clauses. */
export function statementCache(db: Database): <Row>(sql: string) => Statement<[Record<string, unknown>], Row> {
  const kept = new Map<string, Statement<[Record<string, unknown>]>>()
  return <Row>(sql: string) => {
    let statement = kept.get(sql)
    if (!statement) kept.set(sql, (statement = db.prepare<Record<string, unknown>>(sql)))
    return statement as Statement<[Record<string, unknown>], Row>
  }
}
