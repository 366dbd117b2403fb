type ClauseValue = string | number | readonly string[]

/** A clause and the value of its one parameter, or `true` when it has none. An undefined value leaves the clause out. */
export type FilterClause = readonly [sql: string, value: ClauseValue | true | undefined]

/** Joins the clauses that apply with `and`. There are few combinations, so each text is prepared once. */
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
