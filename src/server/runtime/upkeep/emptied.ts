/** Refuses to open a new database where logs or files show that the previous one was lost. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fail, isFailure } from '../../../base/failure.ts'
import { runInDataDirectory } from '../../../base/files/file-error.ts'
import { lockDirectory, type DirectoryLock } from '../../../store/sqlite/database/lock.ts'
import { LOG_DIRECTORY } from '../../log/log-file.ts'

/** @throws Failure `store_unreadable` */
export function refuseLostDatabase(directory: string): void {
  const file = join(directory, 'data.db')
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return
  const left = filesBeside(directory)
  if (left.length === 0) return
  const why = `it is missing or empty, but ${left.join(' and ')} beside it are not`
  throw fail(
    'store_unreadable',
    { file, why },
    { fix: 'svc restore FILE brings a backup back; svc reset --all starts anew.' },
  )
}

/**
 * `refuseLostDatabase` for a process that only reads. It takes the lock only if the database is lost, because the process that
 * holds the lock may be about to create the database.
 * @throws Failure `store_unreadable`, `data_directory_unusable`
 */
export function refuseLostWhileFree(directory: string): void {
  try {
    runInDataDirectory(directory, () => refuseLostDatabase(directory))
  } catch (error) {
    if (!isFailure(error, 'store_unreadable')) throw error
    let lock: DirectoryLock
    try {
      lock = lockDirectory(directory)
    } catch (locked) {
      if (isFailure(locked, 'store_locked')) return
      throw error
    }
    try {
      refuseLostDatabase(directory)
    } finally {
      lock.release()
    }
  }
}

/** Directories in which a server has written files beside its database. */
export const filesBeside = (directory: string): readonly string[] =>
  [LOG_DIRECTORY, 'objects'].filter((name) => holdsFiles(join(directory, name)))

function holdsFiles(path: string): boolean {
  try {
    return readdirSync(path).length > 0
  } catch {
    return false
  }
}
