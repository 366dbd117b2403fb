import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fail, isFailure, type Failure } from '../../../base/failure.ts'
import { NO_SPACE } from '../../../base/files/file-error.ts'

/** Below this, SQLite cannot make the files beside a database, and calls that an I/O error. */
const LEAST_BYTES = 128 * 1024

/** Why a database cannot be used: `data_directory_full`, else `store_unreadable`. A failure stays as it is. */
export function databaseFailure(file: string, error: unknown): Failure {
  if (isFailure(error)) return error
  const { code, message } = error as { code?: unknown; message: string }
  if (code === 'SQLITE_FULL' || (String(code).startsWith('SQLITE_IOERR') && isFull(dirname(file))))
    return fail('data_directory_full', { directory: dirname(file), why: NO_SPACE }, { cause: error })
  return fail('store_unreadable', { file, why: message }, { cause: error })
}

function isFull(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize < LEAST_BYTES
}
