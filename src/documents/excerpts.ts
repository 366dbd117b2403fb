/** Lines of which findings speak, taken along from where their files were read: a report needs no second look at these. */
import { veiled } from './credentials.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { Source } from './source.ts'

/** Lines of a file as a report may show them, by their number, from 1. */
export type Excerpt = readonly [path: string, lines: Readonly<Record<number, string>>]

/** Longer lines stay behind: a file that was written by a machine may be all one line. */
const MAX_LENGTH = 500

/** @param sources those of the files that are at hand, by path */
export function excerptsOf(findings: readonly Diagnostic[], sources: ReadonlyMap<string, Source>): Excerpt[] {
  const excerpts = new Map<string, Record<number, string>>()
  for (const { path, range } of findings) {
    const source = sources.get(path)
    if (source === undefined) continue
    let lines = excerpts.get(path)
    if (lines === undefined) excerpts.set(path, (lines = {}))
    const { line } = range.start
    // A report shows the line before, too.
    for (let number = Math.max(1, line - 1); number <= line; number++) {
      if (lines[number] !== undefined) continue
      const text = source.line(number)
      if (text.length <= MAX_LENGTH) lines[number] = veiled(text)
    }
  }
  return [...excerpts]
}
