import type { Canvas } from './screen.ts'
import { safeText } from '../base/text/escape-text.ts'
import { widthOf } from './width.ts'
import { padText, truncateText } from './text.ts'
import type { TextStyle, Theme } from './theme.ts'
import { formatRelative } from './time.ts'

export interface TableColumn<Row> {
  /** In capitals; empty for a self-explanatory column. */
  readonly title: string
  /** For people: short ids, relative times. Untrusted text is made safe here. */
  readonly cell: (row: Row) => string
  /** Replaces `cell` if the table does not fit: the same without its less important part. */
  readonly short?: (row: Row) => string
  /** For pipes: full ids, ISO times; `cell` when absent. */
  readonly plain?: (row: Row) => string
  readonly align?: 'left' | 'right'
  readonly style?: (theme: Theme, row: Row) => TextStyle
  /** On a narrow terminal columns are left out instead of cut, the highest number first; one without a number stays. */
  readonly dropOrder?: number
  /** Cut before a column that is left out last, down to 16 columns. */
  readonly isFlexible?: boolean
}

/** A time: how long ago for people, RFC 3339 for pipes. One that never came is `never`. */
export const timeColumn = <Row>(
  title: string,
  timeOf: (row: Row) => string | null | undefined,
  now: number,
): TableColumn<Row> => ({
  title,
  cell: (row) => {
    const time = timeOf(row)
    return time ? formatRelative(Date.parse(time), now) : 'never'
  },
  plain: (row) => timeOf(row) ?? '',
})

const GAP = '  '
/** A column is not made narrower than this while another is wider. */
const NARROWEST = 6

/** True where every column has room for its longest cell. */
export function fitsTable<Row>({ width }: Canvas, all: readonly TableColumn<Row>[], rows: readonly Row[]): boolean {
  const widths = all.map(({ title, cell }) => Math.max(widthOf(title), ...rows.map((row) => widthOf(cell(row)))))
  return widths.reduce((sum, each) => sum + GAP.length + each, -GAP.length) <= width
}

/** On a terminal aligned columns under a header, cut to the width; on a pipe TAB-separated values and no header. */
export function drawTable<Row>(canvas: Canvas, all: readonly TableColumn<Row>[], rows: readonly Row[]): string[] {
  if (!canvas.isTTY)
    return rows.map((row) => all.map((column) => safeText((column.plain ?? column.cell)(row))).join('\t'))
  const columns = chooseColumns(canvas, all, rows)
  const line = (cellOf: (chosen: ChosenColumn<Row>) => string, styleOf: (column: TableColumn<Row>) => TextStyle) =>
    columns
      .map((chosen, at) => {
        const { column, width } = chosen
        const cut = truncateText(cellOf(chosen), width)
        // Styled after measuring; the last column is not padded.
        const isLast = at === columns.length - 1 && column.align !== 'right'
        const filled = isLast ? cut : padText(cut, width, column.align)
        return filled.replace(cut, () => (cut === '' ? '' : styleOf(column)(cut)))
      })
      .join(GAP)
      .trimEnd()

  return [
    line(
      ({ column }) => column.title,
      () => canvas.theme.dim,
    ),
    ...rows.map((row) =>
      line(
        ({ cell }) => safeText(cell(row)),
        ({ style }) => style?.(canvas.theme, row) ?? same,
      ),
    ),
  ]
}

/** Minimum widths of a flexible column: while another column can be left out, and in the end. */
const USUAL_FLEXIBLE = 32
const LEAST_FLEXIBLE = 16

interface ChosenColumn<Row> {
  readonly column: TableColumn<Row>
  /** Its `cell`, or the short one. */
  readonly cell: (row: Row) => string
  readonly width: number
}

/** The columns that fit, with their widths. */
function chooseColumns<Row>(
  { width }: Canvas,
  all: readonly TableColumn<Row>[],
  rows: readonly Row[],
): readonly ChosenColumn<Row>[] {
  const measure = (column: TableColumn<Row>, cell: (row: Row) => string) => {
    const widths = rows.map((row) => widthOf(safeText(cell(row))))
    return { column, cell, natural: Math.max(widthOf(column.title), ...widths) }
  }
  const whole = all.map((column) => measure(column, column.cell))
  let kept = whole
  const excess = (): number =>
    kept.reduce((sum, { natural }) => sum + natural, 0) + GAP.length * (kept.length - 1) - width
  const leastOf = ({ column, natural }: (typeof kept)[number], least = LEAST_FLEXIBLE): number =>
    column.isFlexible ? Math.min(natural, least) : natural
  const dropWhileTooWide = (least: number, keptOrder: number): void => {
    const isTooWide = (): boolean =>
      kept.reduce((sum, each) => sum + leastOf(each, least), 0) + GAP.length * (kept.length - 1) > width
    while (isTooWide()) {
      const last = Math.max(...kept.map(({ column }) => column.dropOrder ?? 0))
      if (last <= keptOrder) return
      kept = kept.filter(({ column }) => column.dropOrder !== last)
    }
  }
  dropWhileTooWide(USUAL_FLEXIBLE, 1)
  dropWhileTooWide(LEAST_FLEXIBLE, 0)
  // A narrow column may have room where a wider one that matters more had none.
  for (const each of whole.toSorted((a, b) => (a.column.dropOrder ?? 0) - (b.column.dropOrder ?? 0)))
    if (!kept.includes(each) && excess() + GAP.length + each.natural <= 0)
      kept = whole.filter((other) => other === each || kept.includes(other))
  if (excess() > 0) kept = kept.map((each) => (each.column.short ? measure(each.column, each.column.short) : each))
  let over = excess()
  const flexed = kept.map((each) => {
    const cut = over > 0 && each.column.isFlexible ? Math.min(over, each.natural - leastOf(each)) : 0
    over -= cut
    return { ...each, width: each.natural - cut }
  })
  return fitWidths(flexed, width)
}

const same: TextStyle = (text) => text

/** Shrinks the widest column, one character at a time, until all fit. */
function fitWidths<Column extends { readonly width: number }>(natural: readonly Column[], width: number): Column[] {
  const columns = natural.map((column) => ({ ...column, width: column.width }))
  let over = columns.reduce((sum, each) => sum + each.width, 0) + GAP.length * (columns.length - 1) - width
  for (; over > 0; over--) {
    const most = Math.max(...columns.map((each) => each.width))
    const widest = columns.find((each) => each.width === most)
    if (widest === undefined || most <= NARROWEST) break
    widest.width--
  }
  // If that is not enough, columns at the right are dropped.
  let room = width
  return columns.map((each) => {
    const given = Math.max(0, Math.min(each.width, room))
    room -= each.width + GAP.length
    return { ...each, width: given }
  })
}
