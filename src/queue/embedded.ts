import type { Clock, Instant } from '../base/clock.ts'
import type { SessionId } from '../base/ids.ts'
import type { SessionQueue, QueueHandlers } from './queue.ts'

/** How the queue is called back later; tests wind it by hand. */
export interface QueueTimers {
  /** Calls back once after `ms` milliseconds, unless cleared. */
  set(callback: () => void, ms: number): unknown
  clear(handle: unknown): void
}

/**
 * Milliseconds after which a far alarm looks at the clock again: a machine that slept or whose clock was set is then late by
 * no more than this.
 */
const LONGEST_SLEEP = 60_000

/**
 * The queue of one process. Wakes of different sessions run side by side, those of one session one after another: a ring
 * during a wake runs it once more. Alarms do not keep the process alive; that is its server's to decide.
 *
 * A handler that rejects is a bug and is not caught here.
 */
export function createEmbeddedQueue(
  handlers: QueueHandlers,
  clock: Clock,
  timers: QueueTimers = systemTimers,
): SessionQueue {
  const rung = new Set<SessionId>()
  const running = new Map<SessionId, Promise<void>>()
  let scheduled = false
  let closed = false

  let earliest: Instant | undefined
  let handle: unknown
  let firing: Promise<void> | undefined

  const wakeAll = () => {
    scheduled = false
    for (const id of rung) {
      if (closed || running.has(id)) continue
      rung.delete(id)
      running.set(id, wake(id))
    }
  }

  const wake = async (id: SessionId) => {
    await Promise.resolve() // so that it is known as running before its handler runs
    try {
      await handlers.wake(id)
    } finally {
      running.delete(id)
      if (rung.has(id)) schedule()
    }
  }

  const schedule = () => {
    if (scheduled || closed) return
    scheduled = true
    setImmediate(wakeAll)
  }

  const setTimer = () => {
    timers.clear(handle)
    handle = undefined
    if (earliest === undefined || closed || firing) return
    handle = timers.set(ripe, Math.max(0, Math.min(earliest - clock.now(), LONGEST_SLEEP)))
  }

  const ripe = () => {
    handle = undefined
    if (earliest !== undefined && earliest <= clock.now()) {
      earliest = undefined
      firing = fire()
    } else setTimer()
  }

  const fire = async () => {
    await Promise.resolve()
    try {
      const next = await handlers.fire()
      if (next !== undefined) remember(next)
    } finally {
      firing = undefined
      setTimer()
    }
  }

  const remember = (at: Instant): boolean => {
    if (earliest !== undefined && earliest <= at) return false
    earliest = at
    return true
  }

  return {
    ring(sessionId) {
      rung.add(sessionId)
      schedule()
    },
    alarm(at) {
      if (remember(at)) setTimer()
    },
    async close() {
      closed = true
      setTimer()
      await Promise.allSettled([...running.values(), firing])
    },
  }
}

const systemTimers: QueueTimers = {
  set: (callback, ms) => setTimeout(callback, ms).unref(),
  clear: (handle) => clearTimeout(handle as NodeJS.Timeout | undefined),
}
