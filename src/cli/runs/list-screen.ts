/**
 * A live list on the whole terminal, with a detail pane in which an item opens. Keys as in lazygit and k9s.
 * Source: docs/design/command-line.md#asking
 */
import { setTimeout as after } from 'node:timers/promises'
import { describeCommandError } from '../shell/exit.ts'
import type { CommandContext } from '../shell/command.ts'
import type { Canvas } from '../../terminal/screen.ts'
import { openFullScreen, type FullScreen } from '../../terminal/full-screen.ts'
import { detailSize, drawListView } from '../../terminal/list-view.ts'
import type { TableColumn } from '../../terminal/table.ts'
import { isPlain, safeText } from '../../base/text/escape-text.ts'
import { widthOf } from '../../terminal/width.ts'
import { createTheme } from '../../terminal/theme.ts'
import { viewLines, type SeenLines, type Viewport } from '../shell/screen/view-lines.ts'
import { untilResized, type CardSurface } from './card/card-surface.ts'

/** Time between two queries. */
const POLL_INTERVAL_MS = 1000

/** Rows for a question below the list: the question, its answer and what is wrong with it. */
const PROMPT_ROWS = 3

export interface LiveList<T> {
  readonly title: (count: number) => string
  /** At the right of the title. */
  readonly note: string
  readonly loadItems: () => Promise<readonly T[]>
  readonly idOf: (item: T) => string
  /** Changes whenever the item does; the bell rings for new ones where `soundsBell`. */
  readonly keyOf: (item: T) => string
  readonly columns: (now: number) => readonly TableColumn<T>[]
  readonly emptyMessage: string
  readonly soundsBell: boolean
  /** The detail draws its own frame. */
  readonly isDetailFramed?: boolean
  /** Lines of the detail pane, styled and safe. */
  readonly drawDetail: (item: T, canvas: Canvas, rows: number) => Promise<readonly string[]> | readonly string[]
  /** Opens the item in the detail pane, and ends when it is left; without it Enter only gives the detail the keys. */
  readonly open?: (item: T, surface: CardSurface, signal: AbortSignal) => Promise<void>
  /** Enter ends the screen with the item. */
  readonly isChoice?: boolean
  /** Says that the open item no longer asks anything, so that it is closed. */
  readonly isClosed?: (item: T | undefined) => boolean
}

const MOVE = 'j k move  '

const HELP = [
  'j k, arrows   move',
  'g G           first, last',
  'PageUp PageDn a page',
  'Enter         open',
  'Escape        back',
  '/             filter; Escape clears it',
  '?             these keys',
  'q             leave',
]

/**
 * Shows the list until the person leaves it or the command ends.
 * @returns the item that was chosen, where one is to be
 */
export async function runListScreen<T>(call: CommandContext, list: LiveList<T>): Promise<T | undefined> {
  const { io, mode } = call
  const screen = openFullScreen(io.stdout)
  const release = io.prompts.holdKeys?.()
  const ended = new AbortController()
  const signal = AbortSignal.any([call.signal, ended.signal])
  const state = createListState(call, list, screen, createTheme(mode.color.stdout))
  const loading = state.keepLoading(signal)
  try {
    return await Promise.race([state.handleKeys(signal), loading])
  } finally {
    ended.abort()
    await loading.catch(() => undefined)
    screen.close()
    release?.()
  }
}

function createListState<T>(call: CommandContext, list: LiveList<T>, screen: FullScreen, theme: Canvas['theme']) {
  const { io } = call
  let items: readonly T[] = []
  let chosenId: string | undefined
  let filter = ''
  let isFiltering = false
  let isHelpOpen = false
  let isOpen = false
  let scroll = 0
  let problem = ''
  let isLoaded = false
  /** What an open card shows in the detail pane. */
  let card: readonly string[] | undefined
  let detail: readonly string[] = []
  /** More lines than the detail pane has, over the card, and which of them it shows. */
  let paged: { readonly lines: readonly string[]; readonly place: string } | undefined
  let closing: AbortController | undefined
  /** The open item is done, and its end is shown until the next key. */
  let isDone = false

  const canvasOf = (width: number): Canvas => ({ theme, isTTY: true, width })
  const size = () => ({ width: screen.width, height: screen.height })
  const visible = (): readonly T[] =>
    filter === '' ? items : items.filter((item) => textOf(item).includes(filter.toLowerCase()))
  const textOf = (item: T): string =>
    list
      .columns(io.clock.now())
      .map(({ cell }) => cell(item))
      .join(' ')
      .toLowerCase()
  const chosenAt = (): number =>
    Math.max(
      0,
      visible().findIndex((item) => list.idOf(item) === chosenId),
    )
  const chosen = (): T | undefined => visible()[chosenAt()]
  const footer = (): string => {
    if (isFiltering) return `/${filter}▏`
    if (problem !== '') return problem
    if (isDone) return 'any key  back to the list'
    if (paged) return paged.place
    if (card !== undefined) return 'Escape  back to the list'
    if (isOpen) return 'j k scroll  Esc back  q leave'
    const kept = filter === '' ? '' : `  (/${filter})`
    const keys = `Enter open  / filter  ? keys  q leave${kept}`
    return widthOf(keys) + MOVE.length <= screen.width ? `${MOVE}${keys}` : keys
  }
  const draw = (): void => {
    const rows = visible()
    const shown = isHelpOpen ? HELP : (paged?.lines ?? card ?? (rows.length === 0 ? [] : detail))
    const emptyMessage = filter === '' ? list.emptyMessage : `Nothing has "${filter}".`
    const view = {
      title: list.title(items.length),
      note: list.note,
      columns: list.columns(io.clock.now()),
      rows,
      chosen: chosenAt(),
      emptyMessage: isLoaded ? emptyMessage : 'loading',
      detail: shown,
      isDetailOpen: isOpen || isHelpOpen,
      scroll: card === undefined || paged ? scroll : 0,
      footer: safeText(footer()),
      isDetailFramed: list.isDetailFramed === true && !isHelpOpen && paged === undefined,
    }
    screen.draw(drawListView(canvasOf(screen.width), view, size()))
  }
  const drawDetail = async (): Promise<void> => {
    const item = chosen()
    const { width, height } = detailSize(size())
    const lines = item === undefined ? [] : await list.drawDetail(item, canvasOf(width), height)
    // The person may have moved on meanwhile.
    if (chosen() === item) detail = lines
  }
  const refresh = async (): Promise<void> => {
    await drawDetail()
    draw()
  }
  const move = async (by: number): Promise<void> => {
    const rows = visible()
    if (isOpen) scroll = Math.max(0, Math.min(scroll + by, detail.length - detailSize(size()).height))
    else {
      const next = rows[Math.max(0, Math.min(rows.length - 1, chosenAt() + by))]
      chosenId = next && list.idOf(next)
      scroll = 0
    }
    await refresh()
  }

  /** Shows more lines than the detail pane has, over the card. */
  const viewDetail = async (
    layout: () => readonly string[],
    signal: AbortSignal,
    before?: SeenLines,
  ): Promise<SeenLines> => {
    const viewport: Viewport = {
      layout,
      rows: () => detailSize(size()).height,
      draw(lines, at, place) {
        paged = { lines, place }
        scroll = at
        draw()
      },
      key: (keys) => untilResized(call, signal, (until) => io.prompts.key('', keys, until)),
    }
    try {
      return await viewLines(viewport, before)
    } finally {
      paged = undefined
      scroll = 0
    }
  }

  /** The detail pane as the screen on which a card is decided. */
  const surface: CardSurface = {
    get canvas() {
      return canvasOf(detailSize(size()).width)
    },
    get rows() {
      return detailSize(size()).height
    },
    show(lines) {
      card = lines
      draw()
    },
    end(lines) {
      card = lines
      draw()
    },
    async key(keys, signal, reading) {
      const key = await untilResized(call, signal, (until) => io.prompts.key('', [...keys, 'Escape'], until, reading))
      draw()
      return key === 'Escape' ? (keys.find((each) => each === 'l') ?? keys.at(-1)) : key
    },
    async text(question, signal) {
      return await screen.withPrompt(PROMPT_ROWS, () => io.prompts.text(question, signal))
    },
    edit: (text, signal) => screen.suspend(() => io.prompts.edit(text, signal)),
    async page(lines) {
      await viewDetail(() => lines, call.signal)
    },
    view: (layout, signal, before) => viewDetail(() => layout(surface.canvas), signal, before),
  }

  const open = async (signal: AbortSignal): Promise<void> => {
    const item = chosen()
    if (item === undefined) return
    isOpen = true
    scroll = 0
    if (!list.open) return await refresh()
    closing = new AbortController()
    try {
      await list.open(item, surface, AbortSignal.any([signal, closing.signal]))
      // The outcome stays on the screen until the next key.
      if (card !== undefined && card.length > 0) {
        isDone = true
        draw()
        await io.prompts.key('', 'any', signal)
      }
    } catch (error) {
      if (signal.aborted) throw error
      const words = describeCommandError(error)
      if (!words) throw error
      problem = words.message
    } finally {
      closing = undefined
      isDone = false
      card = undefined
      isOpen = false
    }
    await load()
  }

  const load = async (): Promise<void> => {
    try {
      const before = items
      items = await list.loadItems()
      problem = ''
      const known = new Set(before.map(list.keyOf))
      if (isLoaded && list.soundsBell && items.some((item) => !known.has(list.keyOf(item)))) io.stderr.write('\u0007')
      isLoaded = true
      chosenId ??= items[0] && list.idOf(items[0])
      if (closing && list.isClosed?.(items.find((item) => list.idOf(item) === chosenId))) closing.abort()
    } catch (error) {
      // The server may be starting again: the list stays, and says what is wrong.
      const words = describeCommandError(error)
      if (!words) throw error
      problem = words.message
    }
    if (card === undefined) await refresh()
    else draw()
  }

  const handleFilter = async (key: string): Promise<void> => {
    if (key === 'Enter' || key === 'Escape') isFiltering = false
    if (key === 'Escape') filter = ''
    if (key === 'Backspace') filter = Array.from(filter).slice(0, -1).join('')
    // Keys that are no character have longer names.
    if (isFiltering && Array.from(key).length === 1 && (isPlain(key) || key > '\u00a0')) filter += key
    const first = visible()[0]
    if (chosen() === undefined || !visible().some((item) => list.idOf(item) === chosenId))
      chosenId = first && list.idOf(first)
    await refresh()
  }

  const page = (): number => Math.max(1, detailSize(size()).height - 2)
  const actions: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>> = {
    j: () => move(1),
    Down: () => move(1),
    k: () => move(-1),
    Up: () => move(-1),
    g: () => move(-Infinity),
    G: () => move(Infinity),
    PageDown: () => move(page()),
    PageUp: () => move(-page()),
    Enter: open,
    '/': async () => {
      isFiltering = true
      draw()
    },
    '?': async () => {
      isHelpOpen = !isHelpOpen
      draw()
    },
    Escape: async () => {
      if (isHelpOpen) isHelpOpen = false
      else if (isOpen) isOpen = false
      else filter = ''
      scroll = 0
      await refresh()
    },
  }

  return {
    async keepLoading(signal: AbortSignal): Promise<never> {
      for (;;) {
        await load()
        await after(POLL_INTERVAL_MS, undefined, { signal })
      }
    },
    async handleKeys(signal: AbortSignal): Promise<T | undefined> {
      draw()
      for (;;) {
        const key = await untilResized(call, signal, (until) =>
          io.prompts.key('', isFiltering ? 'any' : [...Object.keys(actions), 'q'], until),
        )
        if (key === 'q' && !isFiltering) return undefined
        if (key === 'Enter' && list.isChoice && !isFiltering && chosen()) return chosen()
        if (key === undefined) await refresh()
        else if (isFiltering) await handleFilter(key)
        else await actions[key]?.(signal)
      }
    },
  }
}
