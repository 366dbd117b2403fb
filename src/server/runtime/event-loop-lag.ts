/**
 * Measures how late the event loop of this process is. A process that cannot keep up with its own work claims none of others.
 * Source: docs/design/several-processes.md#life-of-a-process
 */
import type { Clock } from '../../base/clock.ts'
import { systemTimers, type QueueTimers } from '../../queue/timers.ts'

const LOOK_EVERY_MS = 100
/** The mean of a second counts, because a single pause for garbage collection says little. */
const LOOKS = 10
const MOST_LAG_MS = 100

export interface EventLoopLag {
  /** Mean lateness of the timers of the last second. */
  meanMs(): number
  /** True while the process should claim no work. */
  isBehind(): boolean
  close(): void
}

export function watchEventLoop(
  { monotonic }: Pick<Clock, 'monotonic'>,
  timers: QueueTimers = systemTimers,
): EventLoopLag {
  let late: readonly number[] = []
  let due = 0
  let timer: unknown

  const latenessNow = (): number => Math.max(0, monotonic() - due)
  function look(): void {
    due = monotonic() + LOOK_EVERY_MS
    timer = timers.set(() => {
      late = [...late, latenessNow()].slice(-LOOKS)
      look()
    }, LOOK_EVERY_MS)
  }
  look()

  function meanMs(): number {
    // Includes the timer that is overdue now: the caller may run before it.
    const all = [...late, latenessNow()].slice(-LOOKS)
    return all.reduce((sum, ms) => sum + ms, 0) / LOOKS
  }
  return { meanMs, isBehind: () => meanMs() > MOST_LAG_MS, close: () => timers.clear(timer) }
}
