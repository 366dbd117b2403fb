import type { ColorSupportLevel } from 'chalk'
import type { OutputSink } from '../../src/terminal/output-sink.ts'
import { createScreen, type Canvas, type DelayedDraw, type Screen } from '../../src/terminal/screen.ts'
import { createTheme } from '../../src/terminal/theme.ts'

export const canvasOf = (width: number, level: ColorSupportLevel = 0): Canvas => ({
  theme: createTheme(level),
  isTTY: Number.isFinite(width),
  width,
})
export const PIPE = Number.POSITIVE_INFINITY

export interface Recording {
  readonly screen: Screen
  /** All that was written. */
  readonly written: () => string
  /** Lets the time pass that something waits for. */
  readonly elapse: () => void
}

/** A screen that keeps what is written, with a clock that is wound by hand. */
export function record(options: { isTTY: boolean; width?: number; level?: ColorSupportLevel }): Recording {
  let text = ''
  let waiting: (() => void)[] = []
  const later: DelayedDraw = (draw) => {
    waiting.push(draw)
    return () => (waiting = waiting.filter((each) => each !== draw))
  }
  const sink: OutputSink = { isTTY: options.isTTY, width: options.width ?? 80, write: (given) => void (text += given) }
  return {
    screen: createScreen(sink, options.level ?? 0, { later }),
    written: () => text,
    elapse() {
      const due = waiting
      waiting = []
      for (const draw of due) draw()
    },
  }
}

const PIECES = new RegExp(String.raw`\x1b\[(\d+)A|(\x1b\[J)|\x1b.?|[^\x1b]`, 'gs')

/** What a terminal would show: only the few sequences that we write are understood, anything else is an error. */
export function shown(text: string): string[] {
  const lines = ['']
  let row = 0
  for (const [piece, up, clear] of text.matchAll(PIECES)) {
    if (up) row -= Number(up)
    else if (clear) lines.splice(row, lines.length, '')
    else if (piece === '\n') {
      row++
      lines[row] ??= ''
    } else if (piece.startsWith('\x1b')) throw new Error(`Unknown sequence ${JSON.stringify(piece)}.`)
    else if (piece !== '\r') lines[row] += piece
  }
  return lines.slice(0, -1)
}
