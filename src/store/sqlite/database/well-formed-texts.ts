import type Database from 'better-sqlite3'

/**
 * Makes every text well-formed that a statement writes. SQLite would keep a half of a pair as bytes that are no UTF-8, and give back
 * three other characters.
 */
export function writeWellFormedTexts(db: Database.Database): void {
  const prepare = db.prepare.bind(db) as (sql: string) => Database.Statement
  db.prepare = ((sql: string) => {
    const statement = prepare(sql)
    return WRITES.test(sql) ? guardStatement(statement) : statement
  }) as typeof db.prepare
}

const WRITES = /^\s*(?:insert|update|replace|with)\b/i

function guardStatement(statement: Database.Statement): Database.Statement {
  for (const method of ['run', 'get', 'all'] as const) {
    const execute = statement[method].bind(statement) as (...values: unknown[]) => never
    statement[method] = (...values: unknown[]) => execute(...values.map(toWellFormedValue))
  }
  return statement
}

/** A value, or a list or record of values, of one statement. */
function toWellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (Array.isArray(value)) return value.map(toWellFormedValue)
  for (const each of Object.values(value))
    if (typeof each === 'string' && !each.isWellFormed())
      return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, toWellFormedValue(text)]))
  return value
}
