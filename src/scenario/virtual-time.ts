/** A clock that moves only when advanced, with the timers and waits that depend on it. */
import type { Clock, Instant } from '../base/clock.ts'
import type { QueueTimers } from '../queue/timers.ts'

export interface VirtualTime {
  readonly clock: Clock
  /** The timers of an engine's queue. */
  readonly timers: QueueTimers
  /** Passes virtual time. Throws the signal's reason as soon as it fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** Number of waits, and when the first one is due. */
  readonly asleep: { readonly count: number; readonly until: Instant | undefined }
  /** Moves the clock forward, never back, and ends waits that are due. */
  advance(to: Instant): void
}

interface VirtualTimer {
  readonly fire: () => void
}

interface PendingWait {
  readonly until: Instant
  readonly wake: () => void
}

/** @param start initial time */
export function createVirtualTime(start: Instant): VirtualTime {
  let now = start
  const virtualTimers = new Set<VirtualTimer>()
  const pendingWaits = new Set<PendingWait>()
  const fireTimer = (timer: VirtualTimer): void => {
    if (virtualTimers.delete(timer)) timer.fire()
  }
  return {
    clock: { now: () => now, monotonic: () => now - start },
    timers: {
      set(callback, ms) {
        const timer = { fire: callback }
        virtualTimers.add(timer)
        // Already due: the clock may never move again.
        if (ms <= 0) setImmediate(fireTimer, timer)
        return timer
      },
      clear: (timer) => void virtualTimers.delete(timer as VirtualTimer),
    },
    wait(ms, signal) {
      return new Promise((done, failed) => {
        if (signal.aborted) return failed(signal.reason as Error)
        const pending: PendingWait = {
          until: now + ms,
          wake() {
            pendingWaits.delete(pending)
            signal.removeEventListener('abort', abort)
            done()
          },
        }
        const abort = (): void => {
          pendingWaits.delete(pending)
          failed(signal.reason as Error)
        }
        signal.addEventListener('abort', abort, { once: true })
        pendingWaits.add(pending)
      })
    },
    get asleep() {
      const first = Math.min(...[...pendingWaits].map(({ until }) => until))
      return { count: pendingWaits.size, until: Number.isFinite(first) ? first : undefined }
    },
    advance(to) {
      now = Math.max(now, to)
      for (const pending of pendingWaits) if (pending.until <= now) pending.wake()
      // All timers fire: the queue reads the clock and sets its timer again where nothing is due.
      const set = Array.from(virtualTimers)
      set.forEach(fireTimer)
    },
  }
}
