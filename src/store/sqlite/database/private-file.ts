import { accessSync, closeSync, constants, openSync } from 'node:fs'

/**
 * Creates an empty file that only its owner may read, unless it exists. An existing file is not even opened, because closing
 * it would drop the locks that SQLite holds on it in this process.
 * @throws an error of the file system where it may not be written: SQLite would open it all the same, and its exclusive transactions
 *   would lock nothing
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    accessSync(path, constants.W_OK)
  }
}
