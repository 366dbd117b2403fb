import type { ColorSupportLevel } from 'chalk'
import { widthOf } from './text.ts'
import { createTheme, type Theme } from './theme.ts'

/** Where bytes go: a stream of the process, or what a test keeps. */
export interface OutputSink {
  write(text: string): void
  readonly isTTY: boolean
  /** Columns, as they are at the moment. */
  readonly width: number
}

/** What drawings need to know of the place they are drawn on. */
export interface Canvas {
  readonly theme: Theme
  readonly isTTY: boolean
  /** Columns; infinite for a pipe, which truncates nothing. */
  readonly width: number
}

export interface Screen extends Canvas {
  /** Lines that stay and scroll. The text is written as it is: what is untrusted in it has passed `safeText`. */
  lines(...lines: readonly string[]): void
  /**
   * The block under the last line, replaced by the next one; none of it stays. Drawn at most once per frame. On a pipe
   * nothing is drawn.
   */
  status(...lines: readonly string[]): void
}

/** Calls `draw` once after `ms`, unless the returned function was called before. */
export type DelayedDraw = (draw: () => void, ms: number) => () => void

/** Thirty frames a second: faster is not seen, and slow connections would lag. */
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
      // An emptied block is gone at once, so that what is written elsewhere next does not fall into it.
      if (lines.length === 0) {
        if (drawnRows > 0) draw('')
        else cancel?.()
        cancel = undefined
      } else cancel ??= later(() => draw(''), FRAME_MS)
    },
  }
}

export function afterTimeout(draw: () => void, ms: number): () => void {
  const timer = setTimeout(draw, ms)
  return () => clearTimeout(timer)
}
