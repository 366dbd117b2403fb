/** Applies safe fixes until none is left. */
import { join } from 'node:path'
import type { Diagnostic } from '../text/diagnostic.ts'
import { applyFixes } from '../workspace/fix.ts'
import type { FileContents } from '../text/files.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { writeUserFile } from '../../base/files/write-file.ts'

/** A fix may uncover another fault; more rounds than this mean that two fixes undo each other. */
const MAX_ROUNDS = 10

export interface CheckedProject {
  readonly workspace: Workspace
  readonly findings: readonly Diagnostic[]
}

export interface FixedProject extends CheckedProject {
  /** New texts of the files that changed, by path in the workspace. */
  readonly texts: Readonly<Record<string, string>>
  /** Number of findings that were fixed. */
  readonly fixed: number
}

/**
 * @param check reads and lints the workspace with contents used instead of files
 * @param given contents used instead of files from the start
 */
export async function fixProject(
  check: (overlay: FileContents) => Promise<CheckedProject>,
  given: FileContents,
): Promise<FixedProject> {
  let texts: Record<string, string> = {}
  let checked = await check(given)
  const before = countOf(checked)
  const deletable = new Set(checked.findings.filter(isDeletion).map(keyOf))
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // Deletes only what was unused before: a fix in an earlier round may have removed the last use.
    const safe = checked.findings.filter((each) => !isDeletion(each) || deletable.has(keyOf(each)))
    const fixed = applyFixes(checked.workspace, safe)
    if (fixed.size === 0) break
    const next = { ...texts, ...Object.fromEntries(fixed) }
    const rechecked = await check({ ...given, ...next })
    // Stop where a fix causes more errors than it removes.
    if (errorsOf(rechecked, unreadIn(checked)) > errorsOf(checked, unreadIn(checked))) break
    texts = next
    checked = rechecked
  }
  return { ...checked, texts, fixed: Math.max(0, before - countOf(checked)) }
}

export async function writeTexts(directory: string, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(texts)) await writeUserFile(join(directory, path), text)
}

const isDeletion = ({ fix }: Diagnostic): boolean =>
  fix !== undefined && fix.edits.length > 0 && fix.edits.every(({ text }) => text.trim() === '')

const keyOf = ({ rule, path, pointer, message }: Diagnostic): string => `${rule} ${path} ${pointer} ${message}`

/** Without `policy/untested`: policy tests read the files, not the fixed texts. */
const countOf = ({ findings }: CheckedProject): number =>
  findings.filter(({ rule }) => rule !== 'policy/untested').length

/** Files that could not be parsed: findings that appear once they can are not new. */
const unreadIn = ({ findings }: CheckedProject): ReadonlySet<string> =>
  new Set(findings.flatMap(({ rule, path }) => (rule === 'doc/syntax' ? [path] : [])))

const errorsOf = ({ findings }: CheckedProject, unread: ReadonlySet<string>): number =>
  findings.filter(({ severity, rule, path }) => severity === 'error' && (rule === 'doc/syntax' || !unread.has(path)))
    .length
