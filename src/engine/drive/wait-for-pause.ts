import type { RunId, SessionId } from '../../base/ids.ts'
import { isTerminal, isWaiting } from '../../spec/run.ts'
import type { Store } from '../../store/store.ts'
import type { SessionNotifier } from './notifier.ts'

/** Resolves when a run has ended or waits for somebody, or when the signal aborts. Keeps no run in memory. */
export async function waitForPause(
  store: Store,
  notifier: SessionNotifier,
  { id, sessionId }: { readonly id: RunId; readonly sessionId: SessionId },
  signal: AbortSignal,
): Promise<void> {
  const subscription = notifier.subscribe(sessionId)
  /** Notifications counted before the run was read last. */
  let readAt = -1
  try {
    while (!signal.aborted) {
      const seen = subscription.count() // before the read: a save meanwhile notifies again
      // Model text wakes readers too, and changes no status.
      subscription.takeDeltas(Infinity)
      const run = seen === readAt ? undefined : await store.run(id)
      if (run && (isTerminal(run.status) || isWaiting(run.status))) return
      readAt = seen
      await subscription.waitBeyond(seen, signal)
    }
  } finally {
    subscription.close()
  }
}
