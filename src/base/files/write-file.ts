import { existsSync } from 'node:fs'
import { access, chmod, constants, lstat, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fail } from '../failure.ts'
import { fileErrorOf, fileFailure } from './file-error.ts'

/**
 * Writes a file of the user, whole or not at all: on a full disk the file that was there stays as it was. Errors name the path,
 * which the system leaves out for a full disk, or the directory that is missing.
 * @param mode of the file, from its first byte on; without it an existing file keeps its own
 * @throws Failure `file_missing`, `file_unusable`
 */
export async function writeUserFile(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  try {
    // A link stays one: what it leads to is written.
    const target = (await ifThere(realpath(path))) ?? path
    const before = (await ifThere(stat(target))) ?? (await ifThere(lstat(target)))
    // A pipe, a device or a link to nothing cannot be replaced.
    if (before && !before.isFile()) return await writeFile(target, content)
    if (before) await access(target, constants.W_OK)
    await replaceFile(target, content, mode ?? (before && before.mode & 0o777)).catch(async (error: unknown) => {
      // Its directory may not be changed, or the file is mounted by itself.
      if (!before || !UNCHANGEABLE.has((error as NodeJS.ErrnoException).code)) throw error
      await writeFile(target, content)
    })
  } catch (error) {
    const directory = dirname(path)
    if (fileErrorOf(error)?.isMissing && !existsSync(directory))
      throw fail('file_missing', { path: directory, doing: 'written to' }, { cause: error })
    throw fileFailure(error, { path, doing: 'written' }) ?? error
  }
}

const UNCHANGEABLE: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EBUSY', 'EXDEV'])

async function ifThere<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking
  } catch (error) {
    if (fileErrorOf(error)?.isMissing) return undefined
    throw error
  }
}

let drafts = 0

async function replaceFile(target: string, content: string | Uint8Array, mode: number | undefined): Promise<void> {
  const draft = join(dirname(target), `.svc-${process.pid}-${drafts++}`)
  try {
    await writeFile(draft, content, { flag: 'wx', ...(mode !== undefined && { mode: mode & 0o700 }) })
    if (mode !== undefined) await chmod(draft, mode)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}
