import type { Database } from 'better-sqlite3'
import { fail } from '../../../base/failure.ts'
import { refuseNewer, refuseUnreleased } from '../../refuse-schema.ts'
import { readMigrationFiles } from '../../migration-files.ts'

/** `svc2` in the file header distinguishes our file from any other SQLite database. Another list of migrations needs another id. */
export const APPLICATION_ID = 0x73766332
/** `svc1`: the migrations of development versions were others, so the numbers of their schemas say nothing about ours. */
const UNRELEASED_ID = 0x73766331

/**
 * Migrates a database to the newest schema, in one transaction. Migrations only go forward.
 * @throws Failure `store_unreadable` for a database of another program, of a newer svc or of one from before the first release
 */
export function migrateSchema(db: Database, file: string, known = readMigrations()): void {
  const at = schemaVersion(db, file, known.length)
  if (at === known.length) return
  db.transaction(() => {
    for (const sql of known.slice(at)) db.exec(sql)
    db.pragma(`user_version = ${known.length}`)
    db.pragma(`application_id = ${APPLICATION_ID}`)
  }).immediate()
}

/**
 * True when the database has the newest schema.
 * @throws Failure `store_unreadable` as `migrateSchema` does
 */
export const isMigrated = (db: Database, file: string, known = readMigrations().length): boolean =>
  schemaVersion(db, file, known) === known

function schemaVersion(db: Database, file: string, known: number): number {
  const at = db.pragma('user_version', { simple: true }) as number
  const application = db.pragma('application_id', { simple: true }) as number
  const empty = at === 0 && application === 0 && db.pragma('schema_version', { simple: true }) === 0
  if (application === UNRELEASED_ID) throw refuseUnreleased(file, at)
  if (!empty && application !== APPLICATION_ID)
    throw fail('store_unreadable', { file, why: 'it is a database of another program' })
  if (at > known) throw refuseNewer(file, at, known)
  return at
}

/** A build has the directory beside the bundle or one level above its chunks; the sources have it one level above this file. */
const readMigrations = (): readonly string[] => readMigrationFiles(['./migrations/', '../migrations/'], import.meta.url)
