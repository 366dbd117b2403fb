/** Safe fixes, made until nothing is left to mend. */
import { join } from 'node:path'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import { applyFixes } from '../../documents/workspace/fix.ts'
import type { FileContents } from '../../documents/text/files.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { writeUserFile } from '../files/write-file.ts'

/** A fix may uncover another fault; more rounds than this mean that two fixes undo each other. */
const MAX_ROUNDS = 10

export interface CheckedProject {
  readonly workspace: Workspace
  readonly findings: readonly Diagnostic[]
}

export interface FixedProject extends CheckedProject {
  /** New texts of the files that changed, by path in the workspace. */
  readonly texts: Readonly<Record<string, string>>
  /** Findings that are gone. */
  readonly fixed: number
}

/**
 * @param check reads and lints the workspace with contents that stand in for files
 * @param given contents that stand in for files from the beginning
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
    // What was only just rewritten is what its author meant, even where nothing uses it yet.
    const safe = checked.findings.filter((each) => !isDeletion(each) || deletable.has(keyOf(each)))
    const fixed = applyFixes(checked.workspace, safe)
    if (fixed.size === 0) break
    const next = { ...texts, ...Object.fromEntries(fixed) }
    const again = await check({ ...given, ...next })
    // A fix that makes more of a mess than there was is no fix.
    if (errorsOf(again, unreadIn(checked)) > errorsOf(checked, unreadIn(checked))) break
    texts = next
    checked = again
  }
  return { ...checked, texts, fixed: Math.max(0, before - countOf(checked)) }
}

export async function writeTexts(directory: string, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(texts)) await writeUserFile(join(directory, path), text)
}

const isDeletion = ({ fix }: Diagnostic): boolean =>
  fix !== undefined && fix.edits.length > 0 && fix.edits.every(({ text }) => text.trim() === '')

const keyOf = ({ rule, path, pointer, message }: Diagnostic): string => `${rule} ${path} ${pointer} ${message}`

/** Without what tests of policies have not seen: they read files, not the texts that stand in for them. */
const countOf = ({ findings }: CheckedProject): number =>
  findings.filter(({ rule }) => rule !== 'policy/untested').length

/** Files of which nothing was read: what is found once one can be read was there before. */
const unreadIn = ({ findings }: CheckedProject): ReadonlySet<string> =>
  new Set(findings.flatMap(({ rule, path }) => (rule === 'doc/syntax' ? [path] : [])))

const errorsOf = ({ findings }: CheckedProject, unread: ReadonlySet<string>): number =>
  findings.filter(({ severity, rule, path }) => severity === 'error' && (rule === 'doc/syntax' || !unread.has(path)))
    .length
