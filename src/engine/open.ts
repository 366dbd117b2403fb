/** Creates the engine from its parts. */
import { fail } from '../base/failure.ts'
import { createEmbeddedQueue } from '../queue/embedded.ts'
import type { SessionQueue } from '../queue/queue.ts'
import { systemTimers } from '../queue/timers.ts'
import { undoneCallOf } from '../spec/run.ts'
import type { MessageAccepted } from '../spec/api.ts'
import { approverOf } from '../spec/key.ts'
import { advanceRun } from './machine/advance.ts'
import { answerRun } from './answer.ts'
import { createNotifier } from './drive/notifier.ts'
import { createDriver } from './drive/drive.ts'
import { DEFAULT_LEASE_TIMES } from '../store/lease.ts'
import { isStoreAway } from '../store/store-away.ts'
import type { Engine, EngineParts } from './session/engine.ts'
import { waitForPause } from './drive/wait-for-pause.ts'
import { followRunEvents } from './drive/follow.ts'
import { probeCall } from './drive/probe-call.ts'
import { claimOf, findRepeated } from './session/repeated-request.ts'
import { startFork } from './fork.ts'
import { migrateStoredRun } from './migrate-run.ts'
import { resumeStoredRun } from './resume.ts'
import { completeOutside, signalRun } from './steer-run.ts'
import { startSession } from './start.ts'
import { planUndo, undoStoredRun } from './undo.ts'
import { conversationOf } from './session/timeline.ts'

/** How long `close` waits for what is in flight. */
const GRACE_MS = 10_000

export function createEngine(parts: EngineParts): Engine {
  const { store, timers = systemTimers, leaseTimes: { claimEveryMs } = DEFAULT_LEASE_TIMES } = parts
  const notifier = createNotifier()
  const driver = createDriver(parts, notifier, () => queue)
  const queue: SessionQueue = createEmbeddedQueue(
    { wake: (id) => driver.wake(id), applyDueTimers: () => driver.applyDueTimers() },
    parts.clock,
    timers,
  )
  let closing = false
  let closed: Promise<void> | undefined
  let nextClaim: unknown
  const ended = new AbortController()
  const logLost = (error: unknown): void => {
    if (!isStoreAway(error))
      parts.log.write('warn', 'Sessions of other processes could not be looked for.', { error: String(error) })
  }
  /** Answers with an idempotency key that are under way: a twin waits for the first. */
  const answering = new Map<string, Promise<void>>()
  /** Starts that were accepted before `close`, which waits for them. */
  const starting = new Set<Promise<unknown>>()
  const scheduleNextTimer = async (): Promise<void> => {
    const next = await store.nextTimerAt()
    if (next !== undefined) queue.wakeAt(next)
  }
  /** Looks for sessions and timers that another process left behind. */
  function scheduleClaim(): void {
    if (claimEveryMs === undefined || closing) return
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
  async function close(graceMs: number): Promise<void> {
    closing = true
    ended.abort()
    timers.clear(nextClaim)
    await Promise.all(starting)
    await driver.close(graceMs)
    await queue.close()
  }
  return {
    store,
    start(request) {
      if (closing) return Promise.reject(fail('shutting_down'))
      const started = startSession(parts, request, driver)
      const done: Promise<unknown> = started.catch(() => {}).finally(() => starting.delete(done))
      starting.add(done)
      return started
    },
    async answer(runId, given, hidden = false, idempotency) {
      if (!idempotency) return answerRun(parts, driver, runId, given, hidden)
      const claim = claimOf(parts, given.by, `POST /v1/runs/${runId}/messages`, idempotency)
      const twin = `${claim.principal} ${claim.route} ${claim.key}`
      while (answering.has(twin)) await answering.get(twin)
      const answered = (async () =>
        ((await findRepeated(parts, claim)) as MessageAccepted | undefined) ??
        answerRun(parts, driver, runId, given, hidden, claim))()
      const done = answered.then(ignore, ignore).finally(() => answering.delete(twin))
      answering.set(twin, done)
      return answered
    },
    signal: (runId, name, data) => signalRun(parts, driver, runId, name, data),
    complete: (token, report) => completeOutside(parts, driver, token, report),
    probe: (taskId, principal, signal) => probeCall(parts, driver, taskId, principal, signal),
    async cancel(runId, principal, reason) {
      const run = await store.run(runId)
      if (!run) throw fail('not_found', { what: 'run' })
      const undone = undoneCallOf(run)
      if (undone && principal.type === 'api_key') throw fail('undo_out_of_scope', { runId, undone: undone.runId })
      const why = reason === undefined ? null : parts.redactor.text(reason)
      const status = await driver.post(run.sessionId, (tx) => {
        advanceRun(tx.run(runId), { type: 'cancelled', reason: why, by: approverOf(principal) })
        return tx.run(runId).statusNow()
      })
      return { runId, status }
    },
    fork: (source, request) => startFork(parts, driver, source, request),
    planUndo: (runId) => planUndo(parts, driver, runId),
    undo: (runId, request) => undoStoredRun(parts, driver, runId, request),
    migrate: (runId, request) => migrateStoredRun(parts, driver, runId, request),
    resume: (runId, request) => resumeStoredRun(parts, driver, runId, request),
    async erase(sessionId) {
      await store.eraseSession(sessionId, parts.clock.now())
      // What this process has of it in memory goes too.
      await driver.release(sessionId)
    },
    follow: (run, after, signal) => followRunEvents(store, notifier, run, after, signal),
    text: notifier,
    watch: (listener) => notifier.watch(listener),
    fullSince: (sessionId) => driver.fullSince(sessionId),
    leasesHeld: () => driver.leasesHeld(),
    waitForPause: (run, signal) => waitForPause(store, notifier, driver, run, signal),
    conversation: (sessionId, part) => conversationOf(store, sessionId, part),
    async recover() {
      void followHints().catch(logLost)
      // Loading a session recovers the calls that an earlier process sent.
      const count = await driver.claimAll()
      await scheduleNextTimer()
      scheduleClaim()
      return count
    },
    async release(sessions, triggers) {
      // Before the release: a crash in between counts the time from here again, and never loses it.
      for (const id of sessions) await driver.endHold(id)
      await store.releaseRestored(sessions, triggers)
      for (const id of sessions) await driver.release(id)
      await scheduleNextTimer()
    },
    async setPaused(workspaceId, act) {
      const isChanged = await store.setPaused(workspaceId, act)
      if (isChanged) await driver.pausesChanged()
      return isChanged
    },
    close: (graceMs = GRACE_MS) => (closed ??= close(graceMs)),
  }
}

function ignore(): void {}
