/** Where the card of a task is shown and its questions are asked: below the log, or in a pane of a full screen. */
import { openFullScreen } from '../../../terminal/full-screen.ts'
import type { Canvas } from '../../../terminal/screen.ts'
import { truncateText } from '../../../terminal/text.ts'
import { createTheme } from '../../../terminal/theme.ts'
import type { CommandContext } from '../../shell/command.ts'
import type { KeyReading } from '../../shell/io.ts'
import { messageScreen } from '../../shell/screen/list.ts'
import { viewLines, type SeenLines, type Viewport } from '../../shell/screen/view-lines.ts'

export interface CardSurface {
  /** Columns that the card has, and how it is drawn. */
  readonly canvas: Canvas
  /** Rows that the card has. */
  readonly rows: number
  /** Shows these lines instead of those before. */
  show(lines: readonly string[]): void
  /** Shows these lines for good. */
  end(lines: readonly string[]): void
  /** One of the keys; undefined when the card must be drawn again, since the size of the terminal has changed. */
  key(keys: readonly string[], signal: AbortSignal, reading?: KeyReading): Promise<string | undefined>
  text(question: string, signal: AbortSignal): Promise<string>
  edit(text: string, signal: AbortSignal): Promise<string>
  /** Shows more than a screen, until the person has read it. */
  page(lines: readonly string[]): Promise<void>
  /**
   * Shows all lines of a card page by page, until the person leaves them; for a screen reader at once.
   * @param layout the lines as they fit a canvas
   * @param before what was seen of them earlier
   */
  view(layout: (canvas: Canvas) => readonly string[], signal: AbortSignal, before?: SeenLines): Promise<SeenLines>
}

/** A block below the messages of the command, redrawn in place; for a screen reader the lines that were not in the last drawing. */
export function createInlineSurface(call: CommandContext): CardSurface {
  const { io } = call
  const screen = messageScreen(call)
  let printed: readonly string[] = []
  const print = (lines: readonly string[]): void => {
    screen.lines(...lines.filter((line) => !printed.includes(line)))
    printed = lines
  }
  return {
    canvas: screen,
    get rows() {
      return screen.statusRows
    },
    show(lines) {
      if (screen.isAccessible) return print(lines)
      screen.status(...lines)
      screen.drawStatus()
    },
    end(lines) {
      if (screen.isAccessible) return print(lines)
      screen.status()
      screen.lines(...lines)
    },
    async key(keys, signal, reading) {
      const question = screen.isAccessible ? 'Key' : ''
      return await untilResized(call, signal, (until) => io.prompts.key(question, keys, until, reading))
    },
    async text(question, signal) {
      let answer = ''
      try {
        return (answer = await io.prompts.text(question, signal))
      } finally {
        screen.absorb(`? ${question} ${answer}`)
      }
    },
    async edit(text, signal) {
      if (hasEditor(io.env)) return await screen.suspend(() => io.prompts.edit(text, signal))
      const edited = await io.prompts.edit(text, signal)
      screen.absorb(`? Edit: ${edited}`)
      return edited
    },
    async page(lines) {
      screen.status()
      const { page } = io
      if (page) await screen.suspend(() => page(lines.map((line) => `${line}\n`).join('')))
      else screen.lines(...lines)
    },
    async view(layout, signal, before) {
      if (!screen.isAccessible) return await screen.suspend(() => viewFullScreen(call, layout, signal, before))
      const lines = layout(screen)
      screen.lines(...lines)
      return { seen: lines.length, total: lines.length }
    },
  }
}

/** Shows lines on the whole terminal, above a line that says which they are. */
export async function viewFullScreen(
  call: Pick<CommandContext, 'io' | 'mode'>,
  layout: (canvas: Canvas) => readonly string[],
  signal: AbortSignal,
  before?: SeenLines,
): Promise<SeenLines> {
  const { io, mode } = call
  const theme = createTheme(mode.color.stderr)
  const full = openFullScreen(io.stderr)
  const rows = (): number => Math.max(1, full.height - 1)
  const viewport: Viewport = {
    layout: () => layout({ theme, isTTY: true, width: full.width }),
    rows,
    draw(lines, scroll, footer) {
      const shown = lines.slice(scroll, scroll + rows())
      const blank = Array.from({ length: rows() - shown.length }, () => '')
      full.draw([...shown, ...blank, theme.dim(truncateText(footer, full.width))])
    },
    key: (keys) => untilResized(call, signal, (until) => io.prompts.key('', keys, until)),
  }
  try {
    return await viewLines(viewport, before)
  } finally {
    full.close()
  }
}

/** True where the text is edited in a program of its own. */
const hasEditor = (env: Readonly<Record<string, string | undefined>>): boolean =>
  Boolean(env['VISUAL'] || env['EDITOR'])

/** Ends the work when the size of the terminal changes, and then gives undefined. */
export async function untilResized<T>(
  { io }: Pick<CommandContext, 'io'>,
  signal: AbortSignal,
  work: (until: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const resized = new AbortController()
  const stopListening = io.onResize?.(() => resized.abort())
  try {
    return await work(AbortSignal.any([signal, resized.signal]))
  } catch (error) {
    if (resized.signal.aborted && !signal.aborted) return undefined
    throw error
  } finally {
    stopListening?.()
  }
}
