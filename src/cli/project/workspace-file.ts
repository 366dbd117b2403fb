/**
 * The file `workspace` in the data directory: the name under which its agents were published. Agent ids are derived from it,
 * so a command started elsewhere with `--data` must use the same name.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInDataDirectory } from '../../base/files/file-error.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import { readTextIfAny } from '../../base/files/sync-files.ts'

export function readWorkspaceName(dataDirectory: string): string | undefined {
  const text = readTextIfAny(join(dataDirectory, 'workspace'))
  return text.trim() === '' ? undefined : text.trim()
}

/** Stores the name from the project file. */
export function writeWorkspaceName(dataDirectory: string, workspace: string): void {
  if (readWorkspaceName(dataDirectory) === workspace) return
  runInDataDirectory(dataDirectory, () => {
    makeDirectory(dataDirectory, 0o700)
    writeFileSync(join(dataDirectory, 'workspace'), `${workspace}\n`, { mode: 0o600 })
  })
}
