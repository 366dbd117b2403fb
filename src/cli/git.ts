/** What git knows about the files of a directory. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fail } from '../base/failure.ts'

/** Bytes of answer: enough for the names of 100,000 files. */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Files below a directory, relative to it, that differ from where the branch left `base`, or that git does not know yet.
 * @throws Failure `usage` where there is no repository, or no such base
 */
export async function changedSince(directory: string, base: string): Promise<readonly string[]> {
  const git = async (...args: string[]): Promise<string> => {
    try {
      return (await promisify(execFile)('git', ['-C', directory, ...args], { maxBuffer: MAX_BYTES })).stdout
    } catch (error) {
      const said = (error as { stderr?: string }).stderr?.trim().split('\n')[0]
      throw fail('usage', { what: `git cannot compare with "${base}": ${said || 'there is no such commit'}.` })
    }
  }
  // A name that begins with a dash would be an option of git.
  const from = (await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`)).trim()
  const fork = (await git('merge-base', from, 'HEAD')).trim()
  const lists = [
    await git('diff', '--name-only', '--relative', '-z', fork, '--', '.'),
    await git('ls-files', '--others', '--exclude-standard', '-z', '--', '.'),
  ]
  return [...new Set(lists.flatMap((list) => list.split('\0')).filter((path) => path !== ''))].sort()
}
