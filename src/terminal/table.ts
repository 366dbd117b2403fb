import type { Canvas } from './screen.ts'
import { safeText } from '../base/escape-text.ts'
import { widthOf } from './width.ts'
import { padText, truncateText } from './text.ts'
import type { TextStyle, Theme } from './theme.ts'

export interface TableColumn<Row> {
  /** In capitals; empty for a self-explanatory column. */
  readonly title: string
  /** For people: short ids, relative times. Untrusted text is made safe here. */
  readonly cell: (row: Row) => string
  /** For pipes: full ids, ISO times; `cell` when absent. */
  readonly plain?: (row: Row) => string
  readonly align?: 'left' | 'right'
  readonly style?: (theme: Theme, row: Row) => TextStyle
}

const GAP = '  '
/** A column is not made narrower than this while another is wider. */
const NARROWEST = 6

/** On a terminal aligned columns under a header, cut to the width; on a pipe TAB-separated values and no header. */
export function drawTable<Row>(canvas: Canvas, columns: readonly TableColumn<Row>[], rows: readonly Row[]): string[] {
  if (!canvas.isTTY)
    return rows.map((row) => columns.map((column) => safeText((column.plain ?? column.cell)(row))).join('\t'))
  const cells = rows.map((row) => columns.map((column) => safeText(column.cell(row))))
  const widths = fit(
    columns.map((column, at) => Math.max(widthOf(column.title), ...cells.map((row) => widthOf(row[at]!)))),
    canvas.width,
  )
  const line = (texts: readonly string[], styleOf: (at: number) => TextStyle): string =>
    texts
      .map((text, at) => {
        const cut = truncateText(text, widths[at]!)
        // Styled after measuring; the last column is not padded.
        const last = at === texts.length - 1 && columns[at]!.align !== 'right'
        const filled = last ? cut : padText(cut, widths[at]!, columns[at]!.align)
        return filled.replace(cut, () => (cut === '' ? '' : styleOf(at)(cut)))
      })
      .join(GAP)
      .trimEnd()

  return [
    line(
      columns.map((column) => column.title),
      () => canvas.theme.dim,
    ),
    ...cells.map((texts, row) => line(texts, (at) => columns[at]!.style?.(canvas.theme, rows[row]!) ?? same)),
  ]
}

const same: TextStyle = (text) => text

/** Shrinks the widest column, one character at a time, until all fit. */
function fit(natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  let over = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1) - width
  while (over > 0) {
    const widest = widths.indexOf(Math.max(...widths))
    if (widths[widest]! <= NARROWEST) break
    widths[widest]!--
    over--
  }
  // If that is not enough, columns at the right are dropped.
  let room = width
  return widths.map((each) => {
    const given = Math.max(0, Math.min(each, room))
    room -= each + GAP.length
    return given
  })
}
