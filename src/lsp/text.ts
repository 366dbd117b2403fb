/** Positions in a text in the units of the protocol: lines end at LF, CR LF and CR, as in YAML; characters are UTF-16 code units. */
import type { Position, Range, TextDocumentContentChangeEvent, TextEdit } from 'vscode-languageserver/node'
import type { TextSpan } from '../documents/text/source.ts'

export const toRange = ({ start, end }: TextSpan): Range => ({
  start: { line: start.line - 1, character: start.column - 1 },
  end: { line: end.line - 1, character: end.column - 1 },
})

export const rangesTouch = (a: Range, b: Range): boolean => !isBefore(a.end, b.start) && !isBefore(b.end, a.start)

const isBefore = (a: Position, b: Position): boolean =>
  a.line < b.line || (a.line === b.line && a.character < b.character)

export function offsetAt(text: string, { line, character }: Position): number {
  const breaks = /\r\n|\r|\n/g
  for (let at = 0; at < line; at++) if (breaks.exec(text) === null) return text.length
  const start = breaks.lastIndex
  const end = breaks.exec(text)?.index ?? text.length
  return Math.min(start + character, end)
}

export function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 }
}

/** The text after a change; a change without a range replaces the whole text. */
export function changedText(text: string, change: TextDocumentContentChangeEvent): string {
  if (!('range' in change)) return change.text
  const { start, end } = change.range
  return text.slice(0, offsetAt(text, start)) + change.text + text.slice(offsetAt(text, end))
}

/** The lines in which two texts differ, as one edit, so that editors keep marks and folds elsewhere; empty for equal texts. */
export function editsBetween(before: string, after: string): TextEdit[] {
  if (before === after) return []
  const shorter = Math.min(before.length, after.length)
  let same = 0
  while (same < shorter && before[same] === after[same]) same++
  const start = same === 0 ? 0 : before.lastIndexOf('\n', same - 1) + 1
  let tail = 0
  while (tail < shorter - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const line = before.indexOf('\n', before.length - tail - 1)
  const end = line < 0 ? before.length : line + 1
  return [
    {
      range: { start: positionAt(before, start), end: positionAt(before, end) },
      newText: after.slice(start, after.length - (before.length - end)),
    },
  ]
}
