import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { fail } from '../../../base/failure.ts'
import { runInDataDirectory } from '../../../base/files/file-error.ts'
import { connectSqlite } from './connect.ts'
import { migrateSchema } from './migrate.ts'
import { databaseFailure } from './unusable.ts'
import { createPrivateFile } from './private-file.ts'
import { guardStatements } from './guarded-statements.ts'

const MIB = 1024 * 1024

/** Larger files are checked by `svc doctor` only: at about 3 ms per MiB a check would take longer than the rest of a start. */
const CHECKED_BYTES = 96 * MIB

/**
 * Opens our database file, or one in memory, and migrates it to the newest schema. A new file can be read by its owner only;
 * SQLite gives the log beside it the same mode.
 * @throws Failure `store_unreadable`, `data_directory_unusable`, `data_directory_full`, `native_sqlite_missing`
 */
export function openDatabase(path: string): Database.Database {
  const inMemory = path === ':memory:'
  // SQLite removes its log on a clean shutdown; a log that is still there means the last process was killed.
  const unclean = !inMemory && existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0
  if (!inMemory) runInDataDirectory(dirname(path), () => createPrivateFile(path))
  const db = connectSqlite(path, { timeout: 5000 })
  try {
    const mode = db.pragma('journal_mode = wal', { simple: true })
    if (!inMemory && mode !== 'wal')
      throw fail('store_unreadable', { file: path, why: 'its file system has no shared memory' })
    db.pragma('synchronous = full')
    // Overwrites deleted and moved content: a copy from an earlier write must not survive a later erasure.
    db.pragma('secure_delete = on')
    db.pragma('foreign_keys = on')
    db.pragma('trusted_schema = off')
    db.pragma('cell_size_check = on')
    // Pages of 4 KiB. Rare enough that a page which changes often is written once per checkpoint, and frequent enough to keep
    // each checkpoint, which blocks all other work, short.
    db.pragma('wal_autocheckpoint = 2000')
    db.pragma(`journal_size_limit = ${64 * MIB}`)
    if (unclean && statSync(path).size < CHECKED_BYTES) quickCheck(db, path)
    migrateSchema(db, path)
    guardStatements(db, path)
    return db
  } catch (error) {
    db.close()
    throw databaseFailure(path, error)
  }
}

function quickCheck(db: Database.Database, file: string): void {
  const found = db.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') throw fail('store_unreadable', { file, why: `it is damaged (${String(found)})` })
}
