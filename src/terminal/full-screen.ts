/** Draws on the whole terminal. Uses its alternate screen, so that the earlier content comes back at the end. */
import type { OutputSink } from './output-sink.ts'
import { escapeForTerminal, rawSinkOf } from './terminal-writer.ts'

const ENTER = '\x1b[?1049h\x1b[?25l'
const LEAVE = '\x1b[?25h\x1b[?1049l'

/** Rows assumed if the terminal does not report its height. */
const USUAL_ROWS = 24

export interface FullScreen {
  readonly width: number
  readonly height: number
  /** Shows these lines from the top; more than fit are left out. Each must fit the width. */
  draw(lines: readonly string[]): void
  /** Gives the last rows to a question that draws itself, until it is answered. */
  withPrompt<T>(rows: number, work: () => Promise<T>): Promise<T>
  /** Gives the terminal to another program, such as a pager, until the work is done. */
  suspend<T>(work: () => Promise<T>): Promise<T>
  /** Gives the terminal back. */
  close(): void
}

export function openFullScreen(guarded: OutputSink): FullScreen {
  const sink = rawSinkOf(guarded)
  let drawn: readonly string[] = []
  let size = ''
  let isOpen = true
  sink.write(ENTER)
  const height = (): number => sink.height ?? USUAL_ROWS
  return {
    get width() {
      return sink.width
    },
    get height() {
      return height()
    },
    draw(lines) {
      if (!isOpen) return
      const rows = height()
      const now = `${sink.width}x${rows}`
      const isFresh = now !== size
      size = now
      const shown = Array.from({ length: rows }, (_, at) => lines[at] ?? '')
      const changed = shown.flatMap((line, at) =>
        !isFresh && line === drawn[at] ? [] : [`\x1b[${at + 1};1H${escapeForTerminal(line)}\x1b[K`],
      )
      if (changed.length > 0) sink.write(`${isFresh ? '\x1b[2J' : ''}${changed.join('')}`)
      drawn = shown
    },
    async withPrompt(rows, work) {
      isOpen = false
      sink.write(`\x1b[${Math.max(1, height() - rows + 1)};1H\x1b[J\x1b[?25h`)
      try {
        return await work()
      } finally {
        isOpen = true
        // Redraws everything, since the question may have drawn anywhere.
        size = ''
        sink.write('\x1b[?25l')
      }
    },
    async suspend(work) {
      isOpen = false
      sink.write(LEAVE)
      try {
        return await work()
      } finally {
        isOpen = true
        size = ''
        sink.write(ENTER)
      }
    },
    close() {
      if (isOpen) sink.write(LEAVE)
      isOpen = false
    },
  }
}
