import { fail, isFailure } from '../../../base/failure.ts'
import { openDatabase } from './database.ts'

/**
 * Opens a database that nobody holds, brings it to the newest schema and reads all of it.
 * @throws Failure `store_unreadable` for one that is damaged, of another program or of a newer svc
 */
export function verifyDatabase(path: string): void {
  const db = openDatabase(path)
  try {
    const found = db.pragma('integrity_check(1)', { simple: true })
    if (found !== 'ok') throw fail('store_unreadable', { file: path, why: `it is damaged (${String(found)})` })
    // One file, without a log beside it, is what is moved.
    db.pragma('wal_checkpoint(truncate)')
  } catch (error) {
    if (isFailure(error)) throw error
    throw fail('store_unreadable', { file: path, why: (error as Error).message }, { cause: error })
  } finally {
    db.close()
  }
}
