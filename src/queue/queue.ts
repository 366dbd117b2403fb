/** Wakes sessions now, or when a timer is due. It carries no data: timers and work in flight are read from the store. */
import type { Instant } from '../base/clock.ts'
import type { SessionId } from '../base/ids.ts'

export interface SessionQueue {
  /** Calls the handler `wake` for a session soon, once for all calls before it runs. */
  wake(sessionId: SessionId): void
  /** Calls the handler `applyDueTimers` at `at` or earlier. Only the earliest time is remembered. */
  wakeAt(at: Instant): void
  close(): Promise<void>
}

export interface QueueHandlers {
  wake(sessionId: SessionId): Promise<void>
  /** Timers may be due; resolves with the time of the next one, or undefined when none is set. */
  applyDueTimers(): Promise<Instant | undefined>
}
