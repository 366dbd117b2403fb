/** The store for a command that only asks. */
import { chmod, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Clock } from '../../base/clock.ts'
import { fail, isFailure } from '../../base/failure.ts'
import { inDataDirectory } from '../../base/file-error.ts'
import type { Store } from '../store.ts'
import { connectSqlite } from './database/connect.ts'
import { isMigrated } from './database/migrate.ts'
import { createSqliteStore, openSqlite } from './open.ts'

/**
 * The store in a file, beside the server and the commands that may hold its directory: takes no lock of the directory and
 * changes nothing of what is stored; every write of it fails. Empty where there is no file yet.
 * @param path of the database
 * @throws Failure `store_unreadable`, `data_directory_unusable`, `native_sqlite_missing`
 */
export async function openSqliteReadOnly(path: string, clock: Clock): Promise<Store> {
  const found = await stat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return inDataDirectory(dirname(path), () => {
      throw error
    })
  })
  // A database that another process is just making has no byte yet.
  if (!found || found.size === 0) return openSqlite(':memory:', { clock })
  const db = readable(path)
  if (!db) return await openCopy(path, clock, (copy) => copyFiles(path, copy))
  try {
    if (isMigrated(db, path)) return createSqliteStore(db, clock)
  } catch (error) {
    db.close()
    throw isFailure(error) ? error : unreadable(path, error)
  }
  try {
    // Only the holder of the directory may migrate the file itself.
    return await openCopy(path, clock, async (copy) => void (await db.backup(copy)))
  } finally {
    db.close()
  }
}

/** Undefined where SQLite would have to make the files beside it that readers share, and may not. */
function readable(path: string): Database | undefined {
  let db: Database | undefined
  try {
    db = connectSqlite(path, { readonly: true, timeout: 5000 })
    db.pragma('trusted_schema = off')
    db.pragma('schema_version')
    return db
  } catch (error) {
    db?.close()
    if (isFailure(error)) throw error
    const code = String((error as { code?: unknown }).code)
    if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY')) return undefined
    throw unreadable(path, error)
  }
}

/** Opens a copy in a private directory, which lives as long as the store. */
async function openCopy(path: string, clock: Clock, write: (copy: string) => Promise<void>): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-'))
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true })
  const copy = join(directory, 'data.db')
  try {
    await write(copy)
    const store = openCopied(copy, path, clock)
    return {
      ...store,
      async close() {
        await store.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw isFailure(error) ? error : unreadable(path, error)
  }
}

/** What is wrong with the copy is told of the file. */
function openCopied(copy: string, path: string, clock: Clock): Store {
  try {
    return openSqlite(copy, { clock })
  } catch (error) {
    if (!isFailure(error, 'store_unreadable')) throw error
    throw unreadable(path, error.cause ?? new Error('it is damaged'))
  }
}

/** Nobody writes to a directory in which these files cannot be made; what a killed process left in the log belongs to it. */
async function copyFiles(path: string, copy: string): Promise<void> {
  await copyFile(path, copy)
  // A copy has the mode of its original, which may be for reading only.
  await chmod(copy, 0o600)
  try {
    await copyFile(`${path}-wal`, `${copy}-wal`)
    await chmod(`${copy}-wal`, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const unreadable = (file: string, cause: unknown) =>
  fail('store_unreadable', { file, why: (cause as Error).message }, { cause })
