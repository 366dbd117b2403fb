import Database from 'better-sqlite3'
import { fail } from '../../base/failure.ts'

/**
 * A connection. `npm install --ignore-scripts` leaves the native part of SQLite out; that is told as what it is.
 * @param timeoutMs how long to wait for another process's lock
 * @throws Failure `native_sqlite_missing`
 */
export function connect(path: string, timeoutMs: number): Database.Database {
  try {
    return new Database(path, { timeout: timeoutMs })
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('Could not locate the bindings file'))
      throw fail('native_sqlite_missing', undefined, { cause: error })
    throw error
  }
}
