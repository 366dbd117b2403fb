import type Database from 'better-sqlite3'
import { isFailure, type Failure } from '../../../base/failure.ts'
import { databaseFailure } from './unusable.ts'

/** What SQLite says of a file that it cannot read, or that is not what it wrote. */
const DAMAGE = /^SQLITE_(?:CORRUPT|NOTADB|IOERR)/

/**
 * Tells of a database that stopped being readable while it is used: each statement that fails for it. A full disk is none, since there
 * will be room again.
 */
export function noticeDamage(db: Database.Database, file: string, damaged: (failure: Failure) => void): void {
  const prepare = db.prepare.bind(db) as (sql: string) => Database.Statement
  db.prepare = ((sql: string) => {
    const statement = prepare(sql)
    for (const method of ['run', 'get', 'all'] as const) {
      const execute = statement[method].bind(statement) as (...values: unknown[]) => never
      statement[method] = (...values: unknown[]) => {
        try {
          return execute(...values)
        } catch (error) {
          if (DAMAGE.test(String((error as { code?: unknown }).code))) {
            const failure = databaseFailure(file, error)
            if (isFailure(failure, 'store_unreadable')) damaged(failure)
          }
          throw error
        }
      }
    }
    return statement
  }) as typeof db.prepare
}
