import type { Diagnostic, TextEdit } from '../text/diagnostic.ts'
import type { Workspace } from './workspace.ts'

/**
 * The texts of the files that safe fixes change, by path. Edits replace spans of the author's text, so comments and layout stay.
 * A fix is made whole or not at all. Of two that touch the same place the first is made: linting again finds what is left.
 */
export function applyFixes(workspace: Workspace, findings: readonly Diagnostic[]): ReadonlyMap<string, string> {
  const byPath = new Map<string, TextEdit[]>()
  const renamed = new Set(
    findings.flatMap(({ rule, fix, path }) => (rule === RENAMED && fix?.edits.length ? [path] : [])),
  )
  for (const { rule, fix, path } of findings) {
    if (fix === undefined || fix.unsafe) continue
    // A key that is renamed may be the home that a misplaced one would make a second time: linting again tells.
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

/** What is inserted at a place stands in front of what replaces it. */
const byPlace = (one: TextEdit, other: TextEdit): number =>
  one.range.start.offset - other.range.start.offset || one.range.end.offset - other.range.end.offset

/** Two that insert at one place may both add the mapping that is missing there. */
const overlap = ({ range: one }: TextEdit, { range: other }: TextEdit): boolean =>
  (one.start.offset < other.end.offset && other.start.offset < one.end.offset) ||
  (one.start.offset === one.end.offset &&
    one.start.offset === other.end.offset &&
    one.start.offset === other.start.offset)

const isSame = (one: TextEdit, other: TextEdit): boolean =>
  one.range.start.offset === other.range.start.offset &&
  one.range.end.offset === other.range.end.offset &&
  one.text === other.text
