/** What git knows of the files that are published. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { shortenText } from '../../base/text/cut-text.ts'
import type { PublicationStatement } from '../../spec/trust/statement.ts'

const GIT_MS = 10_000
const MAX_BYTES = 1024 * 1024

/** @returns undefined where git says nothing, or is not there */
export async function readGit(directory: string, ...args: readonly string[]): Promise<string | undefined> {
  try {
    const options = { maxBuffer: MAX_BYTES, timeout: GIT_MS }
    const { stdout } = await promisify(execFile)('git', ['-C', directory, ...args], options)
    return stdout.trim() || undefined
  } catch {
    return undefined
  }
}

/** The commit, whether files of the directory differ from it, and where it was cloned from. */
export async function gitSourceOf(directory: string): Promise<PublicationStatement['source']> {
  const commit = await readGit(directory, 'rev-parse', '--verify', 'HEAD')
  if (commit === undefined) return null
  const dirty = (await readGit(directory, 'status', '--porcelain', '--', '.')) !== undefined
  const remote = await readGit(directory, 'config', 'remote.origin.url')
  return { commit, dirty, remote: remote === undefined ? null : shortenText(withoutCredentials(remote), 900) }
}

/** A token may stand in an address. */
const withoutCredentials = (remote: string): string => remote.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1')
