/** What happens around every statement of a connection, whoever prepares it. */
import type Database from 'better-sqlite3'
import { isFailure, type Failure } from '../../../base/failure.ts'
import { databaseFailure } from './unusable.ts'

type Listener = (failure: Failure) => void

/** Of connections whose damage somebody wants to know. */
const listeners = new WeakMap<Database.Database, Listener>()

/**
 * Tells of a database that stopped being readable while it is used: each statement that fails for it, with Failure `store_unreadable`.
 * A full disk is none, since there will be room again.
 */
export const onDamage = (db: Database.Database, listener: Listener): void => void listeners.set(db, listener)

/**
 * Makes every text well-formed that a statement writes: SQLite would keep a half of a pair as bytes that are no UTF-8, and give back
 * three other characters. Notices damage of the file.
 */
export function guardStatements(db: Database.Database, file: string): void {
  const prepare = db.prepare.bind(db) as (sql: string) => Database.Statement
  const notice = (error: unknown): void => {
    const listener = listeners.get(db)
    if (!listener || !DAMAGE.test(String((error as { code?: unknown }).code))) return
    const failure = databaseFailure(file, error)
    if (isFailure(failure, 'store_unreadable')) listener(failure)
  }
  db.prepare = ((sql: string) => {
    const statement = prepare(sql)
    const toValues = WRITES.test(sql) ? (values: unknown[]) => values.map(toWellFormedValue) : undefined
    for (const method of ['run', 'get', 'all'] as const) {
      const execute = statement[method].bind(statement) as (...values: unknown[]) => never
      statement[method] = (...values: unknown[]) => {
        try {
          return execute(...(toValues ? toValues(values) : values))
        } catch (error) {
          notice(error)
          throw error
        }
      }
    }
    return statement
  }) as typeof db.prepare
}

/** What SQLite says of a file that it cannot read, or that is not what it wrote. */
const DAMAGE = /^SQLITE_(?:CORRUPT|NOTADB|IOERR)/

const WRITES = /^\s*(?:insert|update|replace|with)\b/i

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
