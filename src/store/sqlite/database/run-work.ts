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

/** SQLite has neither booleans nor lists: 0 and 1, and JSON. Most values are bound as they are, without a copy. */
function toBound(values: StatementValues): Record<string, unknown> {
  let bound: Record<string, unknown> | undefined
  for (const name in values) {
    const value = values[name]
    if (typeof value === 'string' || typeof value === 'number' || value === null) continue
    bound ??= { ...values }
    bound[name] = typeof value === 'boolean' ? Number(value) : value && JSON.stringify(value)
    bound[name] ??= null
  }
  return bound ?? values
}
