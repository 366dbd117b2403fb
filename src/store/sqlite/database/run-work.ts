import type { Database } from 'better-sqlite3'
import type { DatabaseWork, Statement, StatementValues } from '../../statement.ts'
import { statementCache } from './statement-cache.ts'

/** @returns what runs work to its end, at once */
export function createWorkRunner(db: Database): <T>(work: DatabaseWork<T>) => T {
  const prepared = statementCache(db)
  const answer = ({ gives, sql, values }: Statement): unknown => {
    const statement = prepared(sql)
    const bound = toBound(values)
    if (gives === 'rows') return statement.all(bound)
    return gives === 'row' ? statement.get(bound) : statement.run(bound).changes
  }
  return (work) => {
    let next = work.next()
    while (!next.done) next = work.next(answer(next.value))
    return next.value
  }
}

/** SQLite has neither booleans nor lists: 0 and 1, and JSON. */
function toBound(values: StatementValues): Record<string, unknown> {
  const bound: Record<string, unknown> = {}
  for (const name in values) {
    const value = values[name]
    if (typeof value === 'boolean') bound[name] = Number(value)
    else if (Array.isArray(value)) bound[name] = JSON.stringify(value)
    else bound[name] = value ?? null
  }
  return bound
}
