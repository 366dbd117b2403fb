/** Wakes sessions: now, or when their next timer is due. What is due is in the store; this only rings. */
import type { Instant } from '../base/clock.ts'
import type { SessionId } from '../base/ids.ts'

export interface SessionQueue {
  /** Calls `wake` for a session soon, once for any number of rings before it runs. */
  ring(sessionId: SessionId): void
  /** Asks to be woken for timers at `at` or earlier. Only the earliest is remembered. */
  alarm(at: Instant): void
  close(): Promise<void>
}

export interface QueueHandlers {
  wake(sessionId: SessionId): Promise<void>
  /** Timers may be due; answers when to look next, or undefined when none is set. */
  fire(): Promise<Instant | undefined>
}
