/** Puts the engine together. */
import { fail } from '../base/failure.ts'
import { createEmbeddedQueue } from '../queue/embedded.ts'
import type { SessionQueue } from '../queue/queue.ts'
import { approverOf } from '../spec/key.ts'
import { advanceRun } from './machine/advance.ts'
import { answerRun } from './answer.ts'
import { createNotifier } from './drive/notifier.ts'
import { createDriver } from './drive/drive.ts'
import type { Engine, EngineParts } from './session/engine.ts'
import { followRunEvents } from './drive/follow.ts'
import { probeCall } from './drive/probe-call.ts'
import { startSession } from './start.ts'
import { conversationOf } from './session/timeline.ts'

/** How long `close` waits for what is in flight. */
const GRACE_MS = 10_000

/** @param openQueue what wakes sessions; in process by default */
export function createEngine(parts: EngineParts, openQueue: typeof createEmbeddedQueue = createEmbeddedQueue): Engine {
  const { store } = parts
  const bell = createNotifier()
  const driver = createDriver(parts, bell, () => queue)
  const queue: SessionQueue = openQueue({ wake: (id) => driver.wake(id), fire: () => driver.fire() }, parts.clock)
  let closing = false
  /** Starts that were let in before the end began. */
  const starting = new Set<Promise<unknown>>()
  const setAlarm = async (): Promise<void> => {
    const next = await store.nextTimerAt()
    if (next !== undefined) queue.alarm(next)
  }
  return {
    store,
    start(request) {
      if (closing) return Promise.reject(fail('shutting_down'))
      const started = startSession(parts, request, (turn) => driver.adopt(turn))
      const done: Promise<unknown> = started.catch(() => {}).finally(() => starting.delete(done))
      starting.add(done)
      return started
    },
    answer: (runId, given, hidden = false) => answerRun(parts, driver, runId, given, hidden),
    probe: (taskId, principal, signal) => probeCall(parts, driver, taskId, principal, signal),
    async cancel(runId, principal, reason) {
      const run = await store.run(runId)
      if (!run) throw fail('not_found', { what: 'run' })
      const why = reason === undefined ? null : parts.redactor.text(reason)
      const status = await driver.post(run.sessionId, (draft) => {
        advanceRun(draft, runId, { type: 'cancelled', reason: why, by: approverOf(principal) })
        return draft.statusNow(runId)
      })
      return { runId, status }
    },
    follow: (runId, after, signal) => followRunEvents(store, bell, runId, after, signal),
    conversation: (sessionId) => conversationOf(store, sessionId),
    async recover() {
      // A session that is loaded looks by itself at the calls that were sent and that nobody here waits for.
      const busy = await store.busySessions()
      for (const id of busy) queue.ring(id)
      await setAlarm()
      return busy.length
    },
    async release(sessions, triggers) {
      await store.releaseRestored(sessions, triggers)
      for (const id of sessions) await driver.release(id)
      await setAlarm()
    },
    async close(graceMs = GRACE_MS) {
      closing = true
      await Promise.all(starting)
      await driver.close(graceMs)
      await queue.close()
    },
  }
}
