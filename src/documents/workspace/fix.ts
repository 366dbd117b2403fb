import type { Diagnostic, TextEdit } from '../text/diagnostic.ts'
import type { Workspace } from './workspace.ts'

/**
 * The new texts of the files that safe fixes change, by path. Edits replace spans of the author's text, so comments and layout
 * stay. A fix is applied completely or not at all. If two fixes overlap, the first is applied; the next lint finds the other.
 */
export function applyFixes(workspace: Workspace, findings: readonly Diagnostic[]): ReadonlyMap<string, string> {
  const byPath = new Map<string, TextEdit[]>()
  const renamed = new Set(
    findings.flatMap(({ rule, fix, path }) => (rule === RENAMED && fix?.edits.length ? [path] : [])),
  )
  for (const { rule, fix, path } of findings) {
    if (fix === undefined || fix.unsafe) continue
    // Renaming a key may create the mapping into which a misplaced key moves, so the move waits for the next lint.
    if (rule === 'doc/misplaced-key' && renamed.has(path)) continue
    const edits = fix.edits.filter((edit) => !(byPath.get(edit.path) ?? []).some((each) => isSame(each, edit)))
    if (edits.some((edit) => (byPath.get(edit.path) ?? []).some((each) => overlap(each, edit)))) continue
    for (const edit of edits) byPath.set(edit.path, [...(byPath.get(edit.path) ?? []), edit])
  }
  const fixed = new Map<string, string>()
  for (const [path, edits] of byPath) {
    const { text } = workspace.source(path)
    let result = ''
    let done = 0
    for (const { range, text: written } of edits.sort(byPlace)) {
      result += text.slice(done, range.start.offset) + written
      done = range.end.offset
    }
    fixed.set(path, result + text.slice(done))
  }
  return fixed
}

const RENAMED = 'doc/unknown-key'

/** At the same offset, insertions come before replacements. */
const byPlace = (one: TextEdit, other: TextEdit): number =>
  one.range.start.offset - other.range.start.offset || one.range.end.offset - other.range.end.offset

/** Two insertions at the same offset count as overlapping: both may add the same missing mapping. */
const overlap = ({ range: one }: TextEdit, { range: other }: TextEdit): boolean =>
  (one.start.offset < other.end.offset && other.start.offset < one.end.offset) ||
  (one.start.offset === one.end.offset &&
    one.start.offset === other.end.offset &&
    one.start.offset === other.start.offset)

const isSame = (one: TextEdit, other: TextEdit): boolean =>
  one.range.start.offset === other.range.start.offset &&
  one.range.end.offset === other.range.end.offset &&
  one.text === other.text
