/** What `svc lint` said of files that have not changed since. Source: performance, goal G16. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Instant } from '../base/clock.ts'
import { makeDirectory } from '../base/make-directory.ts'
import type { Diagnostic } from '../documents/diagnostic.ts'
import { directoryFiles, stampOf, type Files, type Trace } from '../documents/files.ts'
import { summarise, type Summary } from '../documents/report/summary.ts'
import { createWorkspace, type Workspace } from '../documents/workspace.ts'
import type { Call } from './command.ts'
import type { Project } from './project.ts'
import { hasRegistry } from './registry.ts'

/** Projects without a data directory share one: so many results are kept, the latest. */
const MAX_KEPT = 64

export interface LintCache {
  /** What was said, when the program, the settings, the list of files and all that was read are the same. */
  recall(): Recalled | undefined
  /**
   * Best effort: what cannot be written is worked out again.
   * @param said what was worked out, or was recalled, of which the drawing alone may be new
   */
  keep(said: Pick<Recalled, 'workspace' | 'findings'> & Partial<Recalled>, drawn?: Drawn): void
}

export interface Recalled {
  readonly workspace: Workspace
  /** Read when they are asked for: a summary and a drawing say what most runs say. */
  readonly findings: readonly Diagnostic[]
  readonly summary: Summary
  readonly drawn?: Drawn
}

/** A report as it was written. */
export interface Drawn {
  /** Its format, and whether it has colours. */
  readonly as: string
  readonly text: string
}

/** An entry has three lines, so that only what is asked for is parsed: this, the findings, and a drawing where there is one. */
interface Head {
  /** Digest of the list of files. */
  readonly listing: string
  /** Files that were read or measured. */
  readonly seen: readonly Seen[]
  /** Those that hold documents. */
  readonly read: readonly string[]
  readonly focus?: readonly string[]
  readonly summary: Summary
  /** Characters of the findings: an entry that was cut is none. */
  readonly size: number
}

/** With a stamp where a file that still has it has not been changed since it was read. */
interface Seen extends Trace {
  readonly path: string
}

/**
 * What the clocks of file systems may blur. A file that was changed so shortly before it was looked at may change again and
 * look the same: it is compared by its content.
 */
const GRANULARITY_MS = 2000

/** True where what is found depends on files and options: not on a registry, the environment, servers or a git base. */
export const isOfFilesAlone = ({ given }: Pick<Call, 'given'>, project: Project): boolean =>
  !hasRegistry(project) && !given.flag('check-env') && !given.flag('mcp-live') && given.text('changed') === undefined

/**
 * @param edition names the program and its rules: other code has other results
 * @param settings everything else that the findings depend on
 * @param now before anything is read
 * @param cacheHome absent = only a project with a data directory remembers
 */
export function openLintCache(
  { directory, dataDirectory }: Pick<Project, 'directory' | 'dataDirectory'>,
  edition: string,
  settings: unknown,
  now: Instant,
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
  const settled = (stamp: string | undefined): string | undefined =>
    stamp === undefined || Number.parseFloat(stamp) > now - GRANULARITY_MS ? undefined : stamp
  const stampNow = (path: string): string | undefined => {
    const found = lstatSync(join(directory, path), { throwIfNoEntry: false })
    return found && settled(stampOf(found))
  }
  /** The lines of the entry as they are on the disk. */
  let lines: readonly string[] = []
  const write = (next: readonly string[]): void => {
    lines = next
    const draft = join(folder, `${randomUUID()}.tmp`)
    try {
      makeDirectory(folder)
      writeFileSync(draft, next.join('\n'))
      renameSync(draft, file)
      prune(folder)
    } catch {
      discard(draft)
    }
  }
  return {
    recall() {
      lines = linesOf(file)
      const head = parsed(lines[0]) as Head | undefined
      if (head === undefined || lines[1]?.length !== head.size) return undefined
      const files = directoryFiles(directory)
      if (listingOf(files) !== head.listing) return undefined
      const seen: Seen[] = []
      for (const each of head.seen) {
        const stamp = stampNow(each.path)
        const looksTheSame = stamp !== undefined && stamp === each.stamp
        if (!looksTheSame && files.trace!(each.path).digest !== each.digest) return undefined
        seen.push(looksTheSame || stamp === undefined ? each : { ...each, stamp })
      }
      // What was too young then is not looked into again.
      if (seen.some((each, at) => each !== head.seen[at])) write([JSON.stringify({ ...head, seen }), ...lines.slice(1)])
      return recalled(directory, files, head, lines)
    },
    keep(said, drawn) {
      const drawing = drawn === undefined ? [] : [JSON.stringify(drawn)]
      if (said.summary !== undefined) {
        if (drawn !== undefined && drawn !== said.drawn) write([...lines.slice(0, 2), ...drawing])
        return
      }
      const { workspace, findings } = said
      const { files, read, focus } = workspace
      const seen = (files.seen?.() ?? []).map((path): Seen => {
        const { digest, stamp } = files.trace!(path)
        return { path, digest, stamp: settled(stamp) }
      })
      const summary = summarise(findings, workspace)
      const text = JSON.stringify(findings)
      const head: Head = { listing: listingOf(files), seen, read, summary, size: text.length, ...(focus && { focus }) }
      write([JSON.stringify(head), text, ...drawing])
    },
  }
}

function recalled(root: string, files: Files, head: Head, lines: readonly string[]): Recalled {
  const drawn = parsed(lines[2]) as Drawn | undefined
  let findings: readonly Diagnostic[] | undefined
  const { read, focus, summary } = head
  return {
    workspace: createWorkspace({ root, files, documents: [], findings: [], read, ...(focus && { focus }) }),
    get findings() {
      return (findings ??= (parsed(lines[1]) as readonly Diagnostic[] | undefined) ?? [])
    },
    summary,
    ...(drawn && { drawn }),
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

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** Undefined for what is not there or was cut short; else what an edition of this program has written. */
function parsed(line: string | undefined): unknown {
  try {
    return line === undefined ? undefined : JSON.parse(line)
  } catch {
    return undefined
  }
}

/** The oldest go, drafts of lints that were killed among them. */
function prune(folder: string): void {
  const names = readdirSync(folder)
  if (names.length <= MAX_KEPT) return
  const byAge = names.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs })).sort((a, b) => b.at - a.at)
  for (const { name } of byAge.slice(MAX_KEPT)) rmSync(join(folder, name), { force: true })
}
