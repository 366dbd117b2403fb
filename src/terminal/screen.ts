import type { ColorSupportLevel } from 'chalk'
import type { OutputSink } from './output-sink.ts'
import { widthOf } from './width.ts'
import { escapeForTerminal, rawSinkOf } from './terminal-writer.ts'
import { createTheme, type Theme } from './theme.ts'

/** Properties of the output that drawing functions need. */
export interface Canvas {
  readonly theme: Theme
  readonly isTTY: boolean
  /** Columns; infinite for a pipe, which truncates nothing. */
  readonly width: number
  /** For a screen reader: no box drawing, and nothing is redrawn (`SVC_ACCESSIBLE`). */
  readonly isAccessible?: boolean
}

export interface Screen extends Canvas {
  /** Rows that a status block may take: one less than the terminal has. Infinite for a pipe. */
  readonly statusRows: number
  /** Prints lines that stay and scroll. Untrusted text in them must have passed `safeText`. */
  lines(...lines: readonly string[]): void
  /**
   * Replaces the status block below the last line. Drawn at most once per frame, and not at all on a pipe or for a screen
   * reader. Shows only the last lines of a block that is higher than the terminal.
   */
  status(...lines: readonly string[]): void
  /** Draws the status block now instead of with the next frame. */
  drawStatus(): void
  /** Gives the terminal to another program until the work is done; lines that are printed meanwhile come after it. */
  suspend<T>(work: () => Promise<T>): Promise<T>
  /** Takes a line into the status block that another program has drawn below it, such as a question with its answer. */
  absorb(line: string): void
}

/** Calls `draw` once after `ms`, unless the returned function was called before. */
export type DelayedDraw = (draw: () => void, ms: number) => () => void

/** Thirty frames a second: more are not visible and would lag on slow connections. */
const FRAME_MS = 33

/** Lines kept while another program has the terminal; of more, the first are left out. */
const MOST_HELD = 2000

export interface ScreenOptions {
  readonly later?: DelayedDraw
  readonly isAccessible?: boolean
}

export function createScreen(
  sink: OutputSink,
  level: ColorSupportLevel,
  { later = afterTimeout, isAccessible = false }: ScreenOptions = {},
): Screen {
  const theme = createTheme(level)
  const escape = sink.isTTY ? escapeForTerminal : (text: string): string => text
  const redraws = sink.isTTY && !isAccessible
  let wanted: readonly string[] = []
  let drawn: readonly string[] = []
  let cancel: (() => void) | undefined
  /** Lines that were printed while another program has the terminal. */
  let held: string[] | undefined

  const rowsOf = (lines: readonly string[]): number =>
    lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / sink.width)), 0)
  // Measured again: the terminal wraps the lines anew when its width changes.
  const erase = (): string => {
    const rows = rowsOf(drawn)
    return rows === 0 ? '' : `\r\x1b[${rows}A\x1b[J`
  }
  const statusRows = (): number => Math.max(1, (sink.height ?? Number.POSITIVE_INFINITY) - 1)
  const draw = (above: string): void => {
    cancel?.()
    cancel = undefined
    const shown = [...wanted]
    while (shown.length > 1 && rowsOf(shown) > statusRows()) shown.shift()
    rawSinkOf(sink).write(erase() + escape(above + toText(shown)))
    drawn = shown
  }

  return {
    theme,
    isTTY: sink.isTTY,
    isAccessible,
    get width() {
      return sink.isTTY ? sink.width : Number.POSITIVE_INFINITY
    },
    get statusRows() {
      return sink.isTTY ? statusRows() : Number.POSITIVE_INFINITY
    },
    lines(...lines) {
      if (held) held = [...held, ...lines].slice(-MOST_HELD)
      else if (lines.length > 0) draw(toText(lines))
    },
    status(...lines) {
      if (!redraws) return
      if (held) return void (wanted = lines)
      const isDrawn = lines.length === drawn.length && lines.every((line, at) => line === drawn[at])
      wanted = lines
      if (isDrawn) {
        cancel?.()
        cancel = undefined
        return
      }
      // An empty block is drawn at once, before other output can mix with the old one.
      if (lines.length === 0) {
        if (drawn.length > 0) draw('')
        else cancel?.()
        cancel = undefined
      } else cancel ??= later(() => draw(''), FRAME_MS)
    },
    drawStatus() {
      if (cancel) draw('')
    },
    async suspend(work) {
      if (held) return await work()
      const kept = wanted
      wanted = []
      draw('')
      wanted = kept
      held = []
      try {
        return await work()
      } finally {
        const missed = held
        held = undefined
        draw(toText(missed))
      }
    },
    absorb(line) {
      if (drawn.length > 0) drawn = [...drawn, line]
    },
  }
}

const toText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

function afterTimeout(draw: () => void, ms: number): () => void {
  const timer = setTimeout(draw, ms)
  return () => clearTimeout(timer)
}
