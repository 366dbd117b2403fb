/** What the commands of imports print. */
import type { ImportQuestion } from './import-plan.ts'
import type { ImportLoss } from './losses.ts'
import type { ImportedFile } from './write-import.ts'

/** Something that concerns authority was not carried, so that a person has to look. */
export const EXIT_AUTHORITY = 3

export const concernsAuthority = (losses: readonly ImportLoss[]): boolean => losses.some(({ authority }) => authority)

type PrintLine = (text: string) => void

export const printLosses = (losses: readonly ImportLoss[], line: PrintLine): void =>
  printRows(
    'not carried',
    losses.map(({ at, what, authority }) => [authority ? 'authority' : '', at, what]),
    line,
  )

export const printQuestions = (questions: readonly ImportQuestion[], line: PrintLine): void =>
  printRows(
    'questions',
    questions.map(({ path, what }) => [path, what]),
    line,
  )

/** All rows, without a title. */
export const printImportRows = (rows: readonly (readonly string[])[], line: PrintLine): void =>
  printRows(undefined, rows, line, Infinity)

export function countActions(files: readonly Pick<ImportedFile, 'action'>[]): string {
  const counts = new Map<string, number>()
  for (const { action } of files) counts.set(action, (counts.get(action) ?? 0) + 1)
  return [...counts].map(([action, count]) => `${count} ${action}`).join(', ') || 'nothing written'
}

const MOST_ROWS = 60

/** Aligned columns, of which the last is as long as it is. */
function printRows(
  title: string | undefined,
  rows: readonly (readonly string[])[],
  line: PrintLine,
  most = MOST_ROWS,
): void {
  if (rows.length === 0) return
  if (title !== undefined) line(`${title}:`)
  const shown = rows.slice(0, most).map((row) => row.map(asCell))
  const widths = shown[0]!.map((_, at) => Math.min(60, Math.max(...shown.map((row) => row[at]!.length))))
  const indent = title === undefined ? '' : '  '
  for (const row of shown)
    line(
      `${indent}${row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join('  ')}`.trimEnd(),
    )
  if (rows.length > shown.length) line(`${indent}… ${rows.length - shown.length} more: --json lists all`)
}

/** A name of the source with a line break would look like a row of ours, with two spaces like a column. Spaces before a row are ours. */
const asCell = (text: string): string => text.replace(/(\S)\s+/g, '$1 ').replace(/[^\S ]+/g, ' ')
