import { closeSync, openSync } from 'node:fs'

/**
 * Creates an empty file that only its owner may read, unless it is there. A file that is there is not even opened: closing
 * it again would drop the locks that SQLite holds on it in this process.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
