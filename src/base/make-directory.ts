import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a directory and those above it that are missing. Node's `recursive` never ends where a directory cannot be made
 * although the one above it is there, as below `/proc`; this gives up at once.
 * @param mode of each directory that is made
 * @throws the system's error, which names the directory that could not be made
 */
export function makeDirectory(path: string, mode = 0o777): void {
  if (isDirectory(path)) return
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const above = dirname(resolve(path))
    // Another process may have made it meanwhile.
    if (code === 'EEXIST' && isDirectory(path)) return
    if (code !== 'ENOENT' || isDirectory(above)) throw error
    makeDirectory(above, mode)
    if (!isDirectory(path)) mkdirSync(path, { mode })
  }
}

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
