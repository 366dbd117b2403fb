import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a directory and its missing parents. Node's `recursive` loops for ever where a directory cannot be created although
 * its parent exists, as below `/proc`; this fails at once.
 * @param mode of each directory created
 * @throws the system's error, which names the directory that could not be created
 */
export function makeDirectory(path: string, mode = 0o777): void {
  if (isDirectory(path)) return
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const above = dirname(resolve(path))
    // Another process may have created it meanwhile.
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
