/** Changed files of a directory, from git. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { usageFailure } from '../../base/usage-failure.ts'

/** Limit of git's output: enough for the names of 100,000 files. */
const MAX_BYTES = 16 * 1024 * 1024
/** Limit of former contents: a thousand documents of the largest size. */
const MAX_CONTENT_BYTES = 1024 * 1024 * 1024

export interface GitChanges {
  /** Files below the directory, relative to it, that differ from where the branch left the base, or that git does not know yet. */
  readonly paths: readonly string[]
  /** Former contents by path; new files are missing. */
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
  const git = gitIn(directory, (message) => usageFailure(`git cannot compare with "${base}": ${message}.`))
  // Without --end-of-options a name that begins with a dash would be an option.
  const from = (await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{commit}`)).trim()
  const fork = (await git('merge-base', from, 'HEAD')).trim()
  const lists = [
    // A moved file counts as a deleted and a new one.
    await git('diff', '--name-only', '--no-renames', '--relative', '-z', fork, '--', '.'),
    await git('ls-files', '--others', '--exclude-standard', '-z', '--', '.'),
  ]
  const paths = [...new Set(lists.flatMap((list) => list.split('\0')).filter((path) => path !== ''))].sort()
  // `cat-file --batch` takes one name per line.
  const requested = paths.filter((path) => isAsked(path) && !path.includes('\n'))
  return { paths, before: requested.length === 0 ? {} : await contentAt(directory, fork, requested) }
}

/** Git in a directory. @param refusal the failure for what git says */
const gitIn =
  (directory: string, refusal: (message: string) => Error) =>
  async (...args: string[]): Promise<string> => {
    try {
      return (await promisify(execFile)('git', ['-C', directory, ...args], { maxBuffer: MAX_BYTES })).stdout
    } catch (error) {
      const message = (error as { stderr?: string }).stderr?.trim().split('\n')[0]
      throw refusal(message || 'there is no such commit')
    }
  }

/** Files of a revision that are taken at most. */
const MAX_FILES = 20_000

/**
 * The regular files below a directory as they were at a revision, by path relative to it, with `/` between names.
 * @throws Failure `usage` where there is no repository, no such revision, or more than `MAX_FILES` files
 */
export async function filesAt(directory: string, revision: string): Promise<ReadonlyMap<string, Buffer>> {
  const git = gitIn(directory, (message) =>
    usageFailure(
      `git has no revision "${revision}" here: ${message}.`,
      'Name a revision, such as HEAD~1, or a published version, such as acme.desk@1.0.0.',
    ),
  )
  const commit = (await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)).trim()
  const paths = (await git('ls-tree', '-r', '-z', commit, '--', '.')).split('\0').flatMap((entry) => {
    const [, path] = /^100(?:644|755) blob [0-9a-f]+\t([^\n]+)$/.exec(entry) ?? []
    return path === undefined ? [] : [path]
  })
  if (paths.length > MAX_FILES)
    throw usageFailure(`${revision} has ${paths.length} files below this directory; ${MAX_FILES} are compared at most.`)
  return paths.length === 0 ? new Map() : await bytesAt(directory, commit, paths)
}

/** Contents of files at a commit; files that it lacks are left out. */
async function contentAt(
  directory: string,
  commit: string,
  paths: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const found = await bytesAt(directory, commit, paths)
  return Object.fromEntries([...found].map(([path, bytes]) => [path, bytes.toString('utf8')]))
}

async function bytesAt(
  directory: string,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const running = promisify(execFile)('git', ['-C', directory, 'cat-file', '--batch'], {
    encoding: 'buffer',
    maxBuffer: MAX_CONTENT_BYTES,
  })
  running.child.stdin?.end(paths.map((path) => `${commit}:./${path}\n`).join(''))
  const { stdout } = await running
  const found = new Map<string, Buffer>()
  let at = 0
  for (const path of paths) {
    const end = stdout.indexOf('\n', at)
    // `<id> blob <size>`, then as many bytes and a line break; or `<name> missing`.
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(stdout.toString('utf8', at, end))?.[1]
    at = end + 1
    if (size === undefined) continue
    found.set(path, stdout.subarray(at, at + Number(size)))
    at += Number(size) + 1
  }
  return found
}
