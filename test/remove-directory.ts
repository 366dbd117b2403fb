import { rmSync } from 'node:fs'

/**
 * Removes a directory that may be gone already. Children of a process that has ended (a browser's, a database's) may still write
 * into it: it is then tried again, for some 20 s.
 */
export const removeDirectory = (path: string): void =>
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
