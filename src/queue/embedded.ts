import type { Clock, Instant } from '../base/clock.ts'
import type { SessionId } from '../base/ids.ts'
import type { SessionQueue, QueueHandlers } from './queue.ts'
import { systemTimers, type QueueTimers } from './timers.ts'

/** The clock is read at least this often, so that timers are at most this late after the machine slept or its clock was set. */
const MAX_SLEEP_MS = 60_000

/**
 * The queue of one process. Different sessions are woken side by side, one session never twice at once: a `wake` during its
 * handler runs the handler once more. Timers do not keep the process alive; the server decides that.
 *
 * A handler that rejects is a bug and is not caught here.
 */
export function createEmbeddedQueue(
  handlers: QueueHandlers,
  clock: Clock,
  timers: QueueTimers = systemTimers,
): SessionQueue {
  const toWake = new Set<SessionId>()
  const running = new Map<SessionId, Promise<void>>()
  let scheduled = false
  let closed = false

  let earliest: Instant | undefined
  let timer: unknown
  let applying: Promise<void> | undefined

  const wakeAll = () => {
    scheduled = false
    for (const id of toWake) {
      if (closed || running.has(id)) continue
      toWake.delete(id)
      running.set(id, wakeSession(id))
    }
  }

  const wakeSession = async (id: SessionId) => {
    await Promise.resolve() // so that `running` has it before its handler runs
    try {
      await handlers.wake(id)
    } finally {
      running.delete(id)
      if (toWake.has(id)) schedule()
    }
  }

  const schedule = () => {
    if (scheduled || closed) return
    scheduled = true
    setImmediate(wakeAll)
  }

  const setTimer = () => {
    timers.clear(timer)
    timer = undefined
    if (earliest === undefined || closed || applying) return
    timer = timers.set(onTimer, Math.max(0, Math.min(earliest - clock.now(), MAX_SLEEP_MS)))
  }

  const onTimer = () => {
    timer = undefined
    if (earliest !== undefined && earliest <= clock.now()) {
      earliest = undefined
      applying = applyDueTimers()
    } else setTimer()
  }

  const applyDueTimers = async () => {
    await Promise.resolve()
    try {
      const next = await handlers.applyDueTimers()
      if (next !== undefined) setEarliest(next)
    } finally {
      applying = undefined
      setTimer()
    }
  }

  const setEarliest = (at: Instant): boolean => {
    if (earliest !== undefined && earliest <= at) return false
    earliest = at
    return true
  }

  return {
    wake(sessionId) {
      toWake.add(sessionId)
      schedule()
    },
    wakeAt(at) {
      if (setEarliest(at)) setTimer()
    },
    async close() {
      closed = true
      setTimer()
      await Promise.allSettled([...running.values(), applying])
    },
  }
}
