/** Live lists of `inbox --watch` and `runs list --watch`. Source: docs/design/command-line.md#streams */
import { setTimeout as after } from 'node:timers/promises'
import { drawTable, type TableColumn } from '../../../terminal/table.ts'
import type { CommandContext } from '../command.ts'
import { answerScreen } from './list.ts'

/** Time between two queries. */
const POLL_INTERVAL_MS = 1000

export interface WatchedList<T, Line> {
  readonly loadItems: () => Promise<readonly T[]>
  /** A key that changes whenever the item does. */
  readonly keyOf: (item: T) => string
  readonly columns: (now: number) => readonly TableColumn<T>[]
  /** The item as `--json` prints it. */
  readonly toJson: (item: T) => Line
  readonly emptyMessage: string
  /** Sound the terminal bell for new items. */
  readonly soundsBell: boolean
}

/**
 * Redraws the list on a terminal; otherwise prints a line, or an object with `--json`, for each new or changed item. Ends with
 * the signal, and on a terminal with `q`.
 */
export async function watchList<T, Line>(call: CommandContext<Line>, watched: WatchedList<T, Line>): Promise<void> {
  const { mode, io, signal } = call
  if (!mode.interactive || mode.json || !io.stdout.isTTY) return await repaint(call, watched, signal)
  const quit = new AbortController()
  const until = AbortSignal.any([signal, quit.signal])
  const repainting = repaint(call, watched, until)
  try {
    await Promise.race([repainting, io.prompts.key('', ['q'], until)])
  } finally {
    quit.abort()
    await repainting.catch(() => undefined)
  }
}

async function repaint<T, Line>(
  call: CommandContext<Line>,
  watched: WatchedList<T, Line>,
  signal: AbortSignal,
): Promise<never> {
  const { mode, out, io } = call
  const { loadItems: look, keyOf, columns, toJson: published, emptyMessage: nothing, soundsBell: bell } = watched
  const screen = answerScreen(call)
  const known = new Set<string>()
  for (let first = true; ; first = false) {
    signal.throwIfAborted()
    const items = await look()
    const fresh = items.filter((item) => !known.has(keyOf(item)))
    fresh.forEach((item) => known.add(keyOf(item)))
    if (mode.json) for (const item of fresh) await out.ndjson(published(item))
    else if (io.stdout.isTTY) {
      screen.status(...(items.length > 0 ? drawTable(screen, columns(io.clock.now()), items) : [nothing]))
      if (bell && fresh.length > 0 && !first) io.stderr.write('\u0007')
    } else if (fresh.length > 0) drawTable(screen, columns(io.clock.now()), fresh).forEach(out.line)
    await after(POLL_INTERVAL_MS, undefined, { signal }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error
    })
  }
}
