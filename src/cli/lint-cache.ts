/** What `svc lint` said of files that have not changed since. Source: performance, goal G16. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../documents/diagnostic.ts'
import { directoryFiles, type Files } from '../documents/files.ts'
import { createWorkspace, type Workspace } from '../documents/workspace.ts'
import type { Project } from './project.ts'

/** Projects without a data directory share one: so many results are kept, the latest. */
const MAX_KEPT = 64

export interface LintCache {
  /** What was said, when the program, the settings, the list of files and the bytes of all that was read are the same. */
  recall(): { readonly workspace: Workspace; readonly findings: readonly Diagnostic[] } | undefined
  /** Best effort: what cannot be written is worked out again. */
  keep(workspace: Workspace, findings: readonly Diagnostic[]): void
}

interface Entry {
  /** Digest of the list of files. */
  readonly listing: string
  /** Files that were read or measured, with the digest of each. */
  readonly seen: readonly (readonly [path: string, digest: string])[]
  /** Those that hold documents. */
  readonly read: readonly string[]
  readonly focus?: readonly string[]
  readonly findings: readonly Diagnostic[]
}

/**
 * @param edition names the program and its rules: other code has other results
 * @param settings everything else that the findings depend on
 * @param cacheHome absent = only a project with a data directory remembers
 */
export function openLintCache(
  { directory, dataDirectory }: Pick<Project, 'directory' | 'dataDirectory'>,
  edition: string,
  settings: unknown,
  cacheHome?: string,
): LintCache {
  const home = existsSync(dataDirectory) ? join(dataDirectory, 'cache') : cacheHome
  if (home === undefined) return { recall: () => undefined, keep: () => undefined }
  const name = createHash('sha256')
    .update(JSON.stringify([directory, edition, settings]))
    .digest('hex')
    .slice(0, 32)
  const folder = join(home, 'lint')
  const file = join(folder, `${name}.json`)
  return {
    recall() {
      const entry = readEntry(file)
      if (entry === undefined) return undefined
      const files = directoryFiles(directory)
      if (listingOf(files) !== entry.listing) return undefined
      if (!entry.seen.every(([path, digest]) => files.digest!(path) === digest)) return undefined
      const { findings, read, focus } = entry
      return {
        workspace: createWorkspace({ root: directory, files, documents: [], findings, read, ...(focus && { focus }) }),
        findings,
      }
    },
    keep({ files, read, focus }, findings) {
      const seen = (files.seen?.() ?? []).map((path) => [path, files.digest!(path)] as const)
      const entry: Entry = { listing: listingOf(files), seen, read, findings, ...(focus && { focus }) }
      const draft = join(folder, `${randomUUID()}.tmp`)
      try {
        mkdirSync(folder, { recursive: true })
        writeFileSync(draft, JSON.stringify(entry))
        renameSync(draft, file)
        prune(folder)
      } catch {
        discard(draft)
      }
    },
  }
}

const listingOf = ({ paths, links }: Files): string =>
  createHash('sha256')
    .update(JSON.stringify([paths, links]))
    .digest('base64url')

/** Where nothing can be written there is nothing to remove, and that cannot be looked at either. */
function discard(draft: string): void {
  try {
    rmSync(draft, { force: true })
  } catch {
    return
  }
}

function readEntry(file: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Entry
  } catch {
    return undefined
  }
}

function prune(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  if (names.length <= MAX_KEPT) return
  const byAge = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs })).sort((a, b) => b.at - a.at)
  for (const { name } of byAge.slice(MAX_KEPT)) rmSync(join(folder, name), { force: true })
}
