/** Opens the store for a command that only reads. */
import { chmod, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Clock } from '../../base/clock.ts'
import { fail, isFailure } from '../../base/failure.ts'
import { runInDataDirectory } from '../../base/files/file-error.ts'
import type { Store } from '../store.ts'
import { connectSqlite } from './database/connect.ts'
import { isMigrated } from './database/migrate.ts'
import { createSqliteStore, openSqlite } from './open.ts'

/**
 * Opens the store in a file while a server or another command may hold the lock of its directory. Takes no directory lock and
 * changes no stored data; every write fails. The store is empty when there is no file yet.
 * @param path of the database
 * @throws Failure `store_unreadable`, `data_directory_unusable`, `native_sqlite_missing`
 */
export async function openSqliteReadOnly(path: string, clock: Clock): Promise<Store> {
  const found = await stat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return runInDataDirectory(dirname(path), () => {
      throw error
    })
  })
  // A database that another process is just creating is still empty.
  if (!found || found.size === 0) return openSqlite(':memory:', { clock })
  const db = connectReadOnly(path)
  if (!db) return await openCopy(path, clock, (copy) => copyFiles(path, copy))
  try {
    if (isMigrated(db, path)) return createSqliteStore(db, clock)
  } catch (error) {
    db.close()
    throw isFailure(error) ? error : unreadable(path, error)
  }
  try {
    // Migrates a copy, since only the holder of the directory lock may migrate the file itself.
    return await openCopy(path, clock, async (copy) => void (await db.backup(copy)))
  } finally {
    db.close()
  }
}

/** Undefined when SQLite would have to create the files that readers share, and has no permission to. */
function connectReadOnly(path: string): Database | undefined {
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

/** Opens a copy in a private directory that `close` removes. */
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

/** Reports an unreadable copy under the path of the original. */
function openCopied(copy: string, path: string, clock: Clock): Store {
  try {
    return openSqlite(copy, { clock })
  } catch (error) {
    if (!isFailure(error, 'store_unreadable')) throw error
    throw unreadable(path, error.cause ?? new Error('it is damaged'))
  }
}

/** Copies a database from a directory to which nobody can write, with the log that a killed process may have left. */
async function copyFiles(path: string, copy: string): Promise<void> {
  await copyFile(path, copy)
  // A copy has the mode of its original, which may be read-only.
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
