/** What git knows about the files of a directory. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fail } from '../../base/failure.ts'

/** Bytes of answer: enough for the names of 100,000 files. */
const MAX_BYTES = 16 * 1024 * 1024
/** Bytes of former documents: a change of a thousand of the largest. */
const MAX_CONTENT_BYTES = 1024 * 1024 * 1024

export interface GitChanges {
  /** Files below the directory, relative to it, that differ from where the branch left the base, or that git does not know yet. */
  readonly paths: readonly string[]
  /** What stood there before in those that are not new, by path. */
  readonly before: Readonly<Record<string, string>>
}

/**
 * @param isAsked true for a path whose former content is wanted
 * @throws Failure `usage` where there is no repository, or no such base
 */
export async function changedSince(
  directory: string,
  base: string,
  isAsked: (path: string) => boolean,
): Promise<GitChanges> {
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
    // A file that was moved is one that is gone and one that is new.
    await git('diff', '--name-only', '--no-renames', '--relative', '-z', fork, '--', '.'),
    await git('ls-files', '--others', '--exclude-standard', '-z', '--', '.'),
  ]
  const paths = [...new Set(lists.flatMap((list) => list.split('\0')).filter((path) => path !== ''))].sort()
  // The name of an object stands on a line of its own.
  const asked = paths.filter((path) => isAsked(path) && !path.includes('\n'))
  return { paths, before: asked.length === 0 ? {} : await contentAt(directory, fork, asked) }
}

/** Content of files at a commit; those that it does not have are left out. */
async function contentAt(
  directory: string,
  commit: string,
  paths: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const running = promisify(execFile)('git', ['-C', directory, 'cat-file', '--batch'], {
    encoding: 'buffer',
    maxBuffer: MAX_CONTENT_BYTES,
  })
  running.child.stdin!.end(paths.map((path) => `${commit}:./${path}\n`).join(''))
  const { stdout } = await running
  const found: Record<string, string> = {}
  let at = 0
  for (const path of paths) {
    const end = stdout.indexOf('\n', at)
    // `<id> blob <size>`, then as many bytes and a line break; or `<name> missing`.
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(stdout.toString('utf8', at, end))?.[1]
    at = end + 1
    if (size === undefined) continue
    found[path] = stdout.toString('utf8', at, at + Number(size))
    at += Number(size) + 1
  }
  return found
}
