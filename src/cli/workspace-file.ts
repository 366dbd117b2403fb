/**
 * `workspace` in the data directory: the name under which its agents were published. Ids are derived from it, so a command
 * that is started elsewhere with `--data` must not fall back to another one.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export async function recallWorkspace(dataDirectory: string): Promise<string | undefined> {
  const text = await readFile(join(dataDirectory, 'workspace'), 'utf8').catch(() => '')
  return text.trim() === '' ? undefined : text.trim()
}

/** Remembers a name that a project file gave. */
export async function rememberWorkspace(dataDirectory: string, workspace: string): Promise<void> {
  if ((await recallWorkspace(dataDirectory)) === workspace) return
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 })
  await writeFile(join(dataDirectory, 'workspace'), `${workspace}\n`, { mode: 0o600 })
}
