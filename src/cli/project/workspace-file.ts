/**
 * The file `workspace` in the data directory: the name under which its agents were published. Agent ids are derived from it,
 * so a command started elsewhere with `--data` must use the same name.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inDataDirectory } from '../../base/file-error.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { textOf } from '../files/first-files.ts'

export function recallWorkspace(dataDirectory: string): string | undefined {
  const text = textOf(join(dataDirectory, 'workspace'))
  return text.trim() === '' ? undefined : text.trim()
}

/** Stores the name from the project file. */
export function rememberWorkspace(dataDirectory: string, workspace: string): void {
  if (recallWorkspace(dataDirectory) === workspace) return
  inDataDirectory(dataDirectory, () => {
    makeDirectory(dataDirectory, 0o700)
    writeFileSync(join(dataDirectory, 'workspace'), `${workspace}\n`, { mode: 0o600 })
  })
}
