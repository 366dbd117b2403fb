import type { RunId, SessionId } from '../../base/ids.ts'
import { isTerminal, isWaiting, type Run } from '../../spec/run/run.ts'
import type { SessionStore } from '../../store/session-store.ts'
import type { SessionDriver } from './drive.ts'
import type { SessionNotifier } from './notifier.ts'

/**
 * Resolves when a run has ended or waits for somebody, or when the signal aborts. Keeps no run in memory.
 * @returns the run as it is then; undefined if it was not read again
 */
export async function waitForPause(
  store: SessionStore,
  notifier: SessionNotifier,
  { inMemory }: Pick<SessionDriver, 'inMemory'>,
  { id, sessionId }: { readonly id: RunId; readonly sessionId: SessionId },
  signal: AbortSignal,
): Promise<Run | undefined> {
  const subscription = notifier.subscribe(sessionId, false)
  /** Notifications counted before the run was read last. */
  let readAt = -1
  try {
    while (!signal.aborted) {
      const seen = subscription.count() // before the read: a save meanwhile notifies again
      if (seen !== readAt) {
        // Most saves change no status, and a session at work is in memory.
        const run = inMemory(sessionId, id) ?? (await store.run(id))
        if (run && (isTerminal(run.status) || isWaiting(run.status))) return run
        readAt = seen
      }
      await subscription.waitBeyond(seen, signal)
    }
    return undefined
  } finally {
    subscription.close()
  }
}
