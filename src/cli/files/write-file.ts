import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail } from '../../base/failure.ts'
import { fileErrorOf, fileFailure } from '../../base/file-error.ts'

/**
 * Writes a file of the user. Errors name the path, which the system leaves out for a full disk, or the directory that is
 * missing.
 * @throws Failure `file_missing`, `file_unusable`
 */
export async function writeUserFile(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await writeFile(path, content)
  } catch (error) {
    const directory = dirname(path)
    if (fileErrorOf(error)?.isMissing && !existsSync(directory))
      throw fail('file_missing', { path: directory, doing: 'written to' }, { cause: error })
    throw fileFailure(error, { path, doing: 'written' }) ?? error
  }
}
