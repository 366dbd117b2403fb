/** A clock that stands still until it is wound, and all that waits for it. */
import type { Clock, Instant } from '../../base/clock.ts'
import type { QueueTimers } from '../../queue/embedded.ts'

export interface VirtualTime {
  readonly clock: Clock
  /** The timers of an engine's queue. */
  readonly timers: QueueTimers
  /** Passes virtual time. Throws the signal's reason as soon as it fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** How many wait, and until when the first does. */
  readonly asleep: { readonly count: number; readonly until: Instant | undefined }
  /** Moves the clock forward, never back, and wakes what is due. */
  wind(to: Instant): void
}

interface Alarm {
  readonly ring: () => void
}

interface Sleeper {
  readonly until: Instant
  readonly wake: () => void
}

/** @param start where the clock stands first */
export function createVirtualTime(start: Instant): VirtualTime {
  let now = start
  const alarms = new Set<Alarm>()
  const sleepers = new Set<Sleeper>()
  const ring = (alarm: Alarm): void => {
    if (alarms.delete(alarm)) alarm.ring()
  }
  return {
    clock: { now: () => now, monotonic: () => now - start },
    timers: {
      set(callback, ms) {
        const alarm = { ring: callback }
        alarms.add(alarm)
        // Due already: nobody will wind the clock for it.
        if (ms <= 0) setImmediate(ring, alarm)
        return alarm
      },
      clear: (alarm) => void alarms.delete(alarm as Alarm),
    },
    wait(ms, signal) {
      return new Promise((done, failed) => {
        if (signal.aborted) return failed(signal.reason as Error)
        const sleeper: Sleeper = {
          until: now + ms,
          wake() {
            sleepers.delete(sleeper)
            signal.removeEventListener('abort', abort)
            done()
          },
        }
        const abort = (): void => {
          sleepers.delete(sleeper)
          failed(signal.reason as Error)
        }
        signal.addEventListener('abort', abort, { once: true })
        sleepers.add(sleeper)
      })
    },
    get asleep() {
      const first = Math.min(...[...sleepers].map(({ until }) => until))
      return { count: sleepers.size, until: Number.isFinite(first) ? first : undefined }
    },
    wind(to) {
      now = Math.max(now, to)
      for (const sleeper of sleepers) if (sleeper.until <= now) sleeper.wake()
      // The queue asks the clock itself whether anything is due, and sets its alarm again where nothing is.
      const set = Array.from(alarms)
      set.forEach(ring)
    },
  }
}
