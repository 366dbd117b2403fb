import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../../base/failure.ts'
import { runInDataDirectory } from '../../../base/files/file-error.ts'
import { makeDirectory } from '../../../base/files/make-directory.ts'
import { connectSqlite } from './connect.ts'
import { databaseFailure } from './unusable.ts'
import { createPrivateFile } from './private-file.ts'

export interface DirectoryLock {
  /** Lets the next process in. Idempotent. */
  release(): void
}

/**
 * Creates the directory (for its owner only) and locks it for this process until `release`. The lock is an exclusive
 * transaction on a separate file, which the operating system drops however the process ends.
 * @throws Failure `store_locked` when another process holds the lock, `data_directory_unusable` when the directory cannot be
 *   created or written, `store_unreadable` when it is not safe to store data there
 */
export function lockDirectory(directory: string): DirectoryLock {
  const file = join(directory, 'lock.db')
  runInDataDirectory(directory, () => {
    makeDirectory(directory, 0o700)
    refuseUnsafeDirectory(directory)
    createPrivateFile(file)
  })
  const db = connectSqlite(file, { timeout: 0 })
  try {
    db.exec('begin exclusive')
  } catch (error) {
    db.close()
    const code = String((error as { code?: unknown }).code)
    if (code === 'SQLITE_BUSY') throw fail('store_locked', { directory }, { cause: error })
    if (code.startsWith('SQLITE_READONLY'))
      throw fail('data_directory_unusable', { directory, why: 'it cannot be written' }, { cause: error })
    throw databaseFailure(file, error)
  }
  return { release: () => void db.close() }
}

/** Magic numbers of NFS, SMB, CIFS and SMB2, whose locks and shared memory are unreliable. */
const NETWORK_FILE_SYSTEMS: readonly number[] = [0x6969, 0x517b, 0xff534d42, 0xfe534d42]

function refuseUnsafeDirectory(directory: string): void {
  // File modes on Windows do not tell who may write.
  if (process.platform !== 'win32' && (statSync(directory).mode & 0o002) !== 0)
    throw fail('store_unreadable', { file: directory, why: 'every user of this machine may write to it' })
  if (process.platform === 'linux' && NETWORK_FILE_SYSTEMS.includes(statfsSync(directory).type))
    throw fail('store_unreadable', { file: directory, why: 'it is on a network file system' })
}
