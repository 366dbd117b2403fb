import type { ColorSupportLevel } from 'chalk'
import { widthOf } from './width.ts'
import { createTheme, type Theme } from './theme.ts'

/** A stream of the process, or a recording of a test. */
export interface OutputSink {
  write(text: string): void
  readonly isTTY: boolean
  /** Current number of columns. */
  readonly width: number
}

/** Properties of the output that drawing functions need. */
export interface Canvas {
  readonly theme: Theme
  readonly isTTY: boolean
  /** Columns; infinite for a pipe, which truncates nothing. */
  readonly width: number
}

export interface Screen extends Canvas {
  /** Prints lines that stay and scroll. Untrusted text in them must have passed `safeText`. */
  lines(...lines: readonly string[]): void
  /**
   * Replaces the status block below the last line. Drawn at most once per frame, and not at all on a pipe.
   */
  status(...lines: readonly string[]): void
}

/** Calls `draw` once after `ms`, unless the returned function was called before. */
export type DelayedDraw = (draw: () => void, ms: number) => () => void

/** Thirty frames a second: more are not visible and would lag on slow connections. */
const FRAME_MS = 33

export function createScreen(sink: OutputSink, level: ColorSupportLevel, later: DelayedDraw = afterTimeout): Screen {
  const theme = createTheme(level)
  let wanted: readonly string[] = []
  let drawnRows = 0
  let cancel: (() => void) | undefined

  const erase = (): string => (drawnRows === 0 ? '' : `\r\x1b[${drawnRows}A\x1b[J`)
  const rowsOf = (lines: readonly string[]): number =>
    lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / sink.width)), 0)
  const draw = (above: string): void => {
    cancel?.()
    cancel = undefined
    sink.write(erase() + above + wanted.map((line) => `${line}\n`).join(''))
    drawnRows = rowsOf(wanted)
  }

  return {
    theme,
    isTTY: sink.isTTY,
    get width() {
      return sink.isTTY ? sink.width : Number.POSITIVE_INFINITY
    },
    lines(...lines) {
      if (lines.length > 0) draw(lines.map((line) => `${line}\n`).join(''))
    },
    status(...lines) {
      if (!sink.isTTY) return
      wanted = lines
      // An empty block is drawn at once, before other output can mix with the old one.
      if (lines.length === 0) {
        if (drawnRows > 0) draw('')
        else cancel?.()
        cancel = undefined
      } else cancel ??= later(() => draw(''), FRAME_MS)
    },
  }
}

function afterTimeout(draw: () => void, ms: number): () => void {
  const timer = setTimeout(draw, ms)
  return () => clearTimeout(timer)
}
