/** Stored timers: when to look for due ones, and how they change their session. */
import type { Instant, StoreClock } from '../../base/clock.ts'
import type { TaskId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { SessionQueue } from '../../queue/queue.ts'
import type { SessionTimer, SessionUpdate } from '../../store/session-update.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { advanceRun } from '../machine/advance.ts'
import { expireTask } from '../machine/tasks.ts'
import type { SessionTransaction } from '../transaction/transaction.ts'
import type { DriverLifecycle, Mailboxes } from './mailbox.ts'

/** Due timers read and applied at once. */
const BATCH_SIZE = 100
/** Pause before outcomes and timers are saved again after a failed save, on a full disk for example, or while the clock is wrong. */
const RETRY_SAVE_MS = 1000

export interface TimerScheduler {
  /** Wakes the queue in time for the timers that an update sets. */
  schedule(update: SessionUpdate): void
  /** Wakes the queue when a failed save is to be tried again. */
  scheduleRetry(): void
  /** Applies all timers that are due, and resolves with the time to look again. */
  applyDue(mailboxes: Mailboxes): Promise<Instant | undefined>
}

export function createTimerScheduler(
  store: SessionStore,
  clock: StoreClock,
  log: Log,
  queue: () => SessionQueue,
  lifecycle: DriverLifecycle,
): TimerScheduler {
  async function applyAll(mailboxes: Mailboxes): Promise<Instant | undefined> {
    while (lifecycle.phase === 'open') {
      if (!clock.mayDecide()) return clock.now() + RETRY_SAVE_MS
      const due = await store.dueTimers(clock.now(), BATCH_SIZE)
      if (due.length === 0) return store.nextTimerAt()
      const results = await Promise.allSettled(
        due.map((timer) =>
          mailboxes.post(timer.sessionId, (tx) => applyTimer(tx, timer), { runId: timer.runId, isTimer: true }),
        ),
      )
      // Timers that could not be saved are still due.
      if (results.some(({ status }) => status === 'rejected')) return clock.now() + RETRY_SAVE_MS
    }
    return undefined
  }

  return {
    schedule({ setTimers }) {
      if (setTimers.length > 0) queue().wakeAt(Math.min(...setTimers.map(({ at }) => at)))
    },
    scheduleRetry: () => queue().wakeAt(clock.now() + RETRY_SAVE_MS),
    async applyDue(mailboxes) {
      try {
        return await applyAll(mailboxes)
      } catch (error) {
        // The queue would end the process: a database that is away for a while must not.
        if (!isStoreAway(error)) log.write('warn', 'The timers could not be read.', { error: String(error) })
        return clock.now() + RETRY_SAVE_MS
      }
    },
  }
}

/** Deletes a timer that fired, even if nothing waits for it any more, and applies it. */
function applyTimer(tx: SessionTransaction, timer: SessionTimer): void {
  const { runId, kind, ref } = timer
  // The clock of the store was set back meanwhile: it fires later.
  if (timer.at > tx.now) return
  tx.run(runId).clearFired(timer)
  if (kind === 'task_timeout') expireTask(tx, ref as TaskId)
  else advanceRun(tx.run(runId), { type: `${kind}.due` })
}
