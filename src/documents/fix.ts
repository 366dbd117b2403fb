import type { Diagnostic, Edit } from './diagnostic.ts'
import type { Workspace } from './workspace.ts'

/**
 * The texts of the files that safe fixes change, by path. Edits replace spans of the author's text, so comments and layout stay.
 * Of two fixes that touch the same place the first is made: linting again finds what is left.
 */
export function applyFixes(workspace: Workspace, findings: readonly Diagnostic[]): ReadonlyMap<string, string> {
  const fixed = new Map<string, string>()
  const byPath = new Map<string, Edit[]>()
  for (const edit of findings.flatMap(({ fix }) => fix?.edits ?? [])) {
    const before = byPath.get(edit.path) ?? []
    if (!before.some((each) => isSame(each, edit))) byPath.set(edit.path, [...before, edit])
  }
  for (const [path, edits] of byPath) {
    const { text } = workspace.source(path)
    let result = ''
    let done = 0
    for (const { range, text: written } of [...edits].sort((a, b) => a.range.start.offset - b.range.start.offset)) {
      if (range.start.offset < done) continue
      result += text.slice(done, range.start.offset) + written
      done = range.end.offset
    }
    fixed.set(path, result + text.slice(done))
  }
  return fixed
}

const isSame = (one: Edit, other: Edit): boolean =>
  one.range.start.offset === other.range.start.offset &&
  one.range.end.offset === other.range.end.offset &&
  one.text === other.text
