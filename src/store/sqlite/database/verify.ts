import { fail } from '../../../base/failure.ts'
import { openDatabase } from './database.ts'
import { databaseFailure } from './unusable.ts'

/**
 * Opens a database that no process uses, migrates it to the newest schema and checks all of its content.
 * @throws Failure `store_unreadable` when it is damaged or was written by another program or a newer svc
 */
export function verifyDatabase(path: string): void {
  const db = openDatabase(path)
  try {
    const found = db.pragma('integrity_check(1)', { simple: true })
    if (found !== 'ok') throw fail('store_unreadable', { file: path, why: `it is damaged (${String(found)})` })
    // The caller moves one file, so the log must be merged into it.
    db.pragma('wal_checkpoint(truncate)')
  } catch (error) {
    throw databaseFailure(path, error)
  } finally {
    db.close()
  }
}
