/** Looks for sessions and timers that another process left behind, and follows the hints of other processes. */
import type { SessionQueue } from '../queue/queue.ts'
import { systemTimers } from '../queue/timers.ts'
import { DEFAULT_LEASE_TIMES } from '../store/lease.ts'
import { isStoreAway } from '../store/store-away.ts'
import type { SessionDriver } from './drive/drive.ts'
import type { SessionNotifier } from './drive/notifier.ts'
import type { EngineParts } from './interface/engine.ts'

export interface ClaimTimer {
  /** Takes over sessions that nobody holds, now and from time to time; resolves with their number now. */
  start(): Promise<number>
  /** Wakes the queue for the earliest stored timer. */
  scheduleNextTimer(): Promise<void>
  stop(): void
}

export function createClaimTimer(
  parts: EngineParts,
  driver: SessionDriver,
  notifier: SessionNotifier,
  queue: SessionQueue,
): ClaimTimer {
  const { store, timers = systemTimers, leaseTimes: { claimEveryMs } = DEFAULT_LEASE_TIMES } = parts
  const ended = new AbortController()
  let nextClaim: unknown
  const logLost = (error: unknown): void => {
    if (!isStoreAway(error))
      parts.log.write('warn', 'Sessions of other processes could not be looked for.', { error: String(error) })
  }
  const scheduleNextTimer = async (): Promise<void> => {
    const next = await store.nextTimerAt()
    if (next !== undefined) queue.wakeAt(next)
  }
  const scheduleClaim = (): void => {
    if (claimEveryMs === undefined || ended.signal.aborted) return
    // Not all processes at once. Readers that no hint reaches wait as long at most.
    const waitMs = claimEveryMs * (0.5 + parts.random() / 2)
    nextClaim = timers.set(() => {
      // Hints may have got lost: readers look by themselves.
      notifier.notifyAll()
      void driver.claimAll().then(scheduleNextTimer).catch(logLost).finally(scheduleClaim)
    }, waitMs)
  }
  async function followHints(): Promise<void> {
    for await (const hint of store.hints(ended.signal)) await driver.applyHint(hint).catch(logLost)
  }
  return {
    async start() {
      void followHints().catch(logLost)
      // Loading a session recovers the calls that an earlier process sent.
      const count = await driver.claimAll()
      await scheduleNextTimer()
      scheduleClaim()
      return count
    },
    scheduleNextTimer,
    stop() {
      ended.abort()
      timers.clear(nextClaim)
    },
  }
}
