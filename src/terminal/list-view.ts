/** A list with a detail pane on the whole terminal: beside each other where there is room, else one at a time. */
import type { Canvas } from './screen.ts'
import { drawTable, type TableColumn } from './table.ts'
import { padText, truncateText } from './text.ts'
import { safeText } from '../base/text/escape-text.ts'
import { widthOf } from './width.ts'

/** From this many columns on, the detail stands beside the list. */
const WIDE = 100

/** Share of the width that the list takes then. */
const LIST_SHARE = 0.5

export interface ListView<Row> {
  readonly title: string
  /** At the right of the title, such as who looks. */
  readonly note: string
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  /** Number of the chosen row. */
  readonly chosen: number
  /** Shown if there are no rows. */
  readonly emptyMessage: string
  /** Detail of the chosen row, styled and safe. */
  readonly detail: readonly string[]
  /** True if the keys go to the detail. */
  readonly isDetailOpen: boolean
  /** The detail draws its own frame, so no line is drawn beside it. */
  readonly isDetailFramed?: boolean
  /** First line of the detail that is shown. */
  readonly scroll: number
  /** Last line: the keys, or what is typed. */
  readonly footer: string
}

/** Columns and rows that the detail has. */
export function detailSize({ width, height }: ViewSize): ViewSize {
  const rows = Math.max(3, height - 3)
  return width >= WIDE ? { width: width - listWidth(width) - 3, height: rows } : { width, height: rows }
}

export interface ViewSize {
  readonly width: number
  readonly height: number
}

/** Columns below which a note that does not fit is left out. */
const MIN_NOTE = 30

const listWidth = (width: number): number => Math.floor(width * LIST_SHARE)

/** Exactly `height` lines. */
export function drawListView<Row>(canvas: Canvas, view: ListView<Row>, { width, height }: ViewSize): string[] {
  const { theme } = canvas
  const { title, note, isDetailOpen, footer, detail } = view
  const rows = Math.max(3, height - 3)
  const isWide = width >= WIDE
  const list = isWide || !isDetailOpen ? drawRows(canvas, view, isWide ? listWidth(width) : width, rows) : []
  const from = Math.max(0, Math.min(view.scroll, detail.length - rows))
  const shown = detail.slice(from, from + rows)
  const separator = view.isDetailFramed ? ' ' : (isDetailOpen ? theme.waiting : theme.dim)('│')
  const body = isWide
    ? Array.from({ length: rows }, (_, at) =>
        `${padText(list[at] ?? '', listWidth(width))} ${separator} ${shown[at] ?? ''}`.trimEnd(),
      )
    : Array.from({ length: rows }, (_, at) => (isDetailOpen ? shown : list)[at] ?? '')
  const left = truncateText(title, width)
  const room = width - widthOf(left) - 2
  // A cut note about an outage is better than none.
  const cutNote = room < MIN_NOTE ? '' : truncateText(note, room)
  const right = widthOf(note) <= room ? note : cutNote
  return [
    `${theme.strong(left)}${' '.repeat(Math.max(0, width - widthOf(left) - widthOf(right)))}${theme.dim(right)}`.trimEnd(),
    theme.dim('─'.repeat(width)),
    ...body,
    theme.dim(truncateText(footer, width)),
  ]
}

/** The header, and the rows around the chosen one. */
function drawRows<Row>(
  { theme }: Canvas,
  { columns, rows, chosen, emptyMessage }: ListView<Row>,
  width: number,
  height: number,
): string[] {
  if (rows.length === 0) return [theme.dim(truncateText(safeText(emptyMessage), width))]
  const room = height - 1
  const from = Math.max(0, Math.min(chosen - Math.floor(room / 2), rows.length - room))
  const table = { theme, isTTY: true, width: width - 2 }
  const [header = '', ...lines] = drawTable(table, columns, rows)
  return [
    `  ${header}`,
    ...lines
      .slice(from, from + room)
      .map((line, at) => (from + at === chosen ? `${theme.strong('▌')} ${theme.strong(line)}` : `  ${line}`)),
  ]
}
