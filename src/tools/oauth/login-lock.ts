/**
 * One process at a time renews a login: many authorization servers take a refresh token that comes twice for a stolen one, and end
 * the login. `svc doctor` and `svc lint` may do so beside a server.
 */
import { open, rm, stat, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../base/files/make-directory.ts'
import { TOKEN_MS } from './authorization-server.ts'
import { LOGIN_DIRECTORY } from './login-keeper.ts'

/** A lock of this age is that of a process which died. */
const DEAD_MS = 3 * TOKEN_MS
const PAUSE_MS = 50

export async function withLoginLock<T>(dataDirectory: string, name: string, action: () => Promise<T>): Promise<T> {
  const directory = join(dataDirectory, LOGIN_DIRECTORY)
  makeDirectory(directory, 0o700)
  const path = join(directory, `${name}.lock`)
  const lock = await acquire(path)
  try {
    return await action()
  } finally {
    await lock.close()
    await rm(path, { force: true })
  }
}

async function acquire(path: string): Promise<FileHandle> {
  for (;;)
    try {
      return await open(path, 'wx', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const age = await ageOf(path)
      if (age !== undefined && age > DEAD_MS) await rm(path, { force: true })
      else await sleep(PAUSE_MS)
    }
}

/** Undefined if it is gone. By the clock of the file system's machine, as the file's time is. */
const ageOf = async (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => undefined,
  )
