/** Creates the engine from its parts. */
import { fail } from '../base/failure.ts'
import { createEmbeddedQueue } from '../queue/embedded.ts'
import type { SessionQueue } from '../queue/queue.ts'
import { systemTimers } from '../queue/timers.ts'
import type { NewAct } from '../spec/people/act.ts'
import type { RecordedWrites } from '../store/act-store.ts'
import { undoneCallOf } from '../spec/run/run.ts'
import { approverOf } from '../spec/people/key.ts'
import { advanceRun } from './machine/advance.ts'
import { answerRun, answerUnlessRepeated } from './answer.ts'
import { createClaimTimer } from './claim-timer.ts'
import { createClientGate } from './client/call-tool.ts'
import { createNotifier } from './drive/notifier.ts'
import { createDriver } from './drive/drive.ts'
import type { Engine, EngineParts } from './interface/engine.ts'
import { readPausesInForce } from './drive/pauses.ts'
import { waitForPause } from './drive/wait-for-pause.ts'
import { followRunEvents } from './drive/follow.ts'
import { probeCall } from './drive/probe-call.ts'
import { claimOf, type OpenClaim } from './interface/repeated-request.ts'
import { startFork } from './fork.ts'
import { migrateStoredRun } from './migrate-run.ts'
import { resumeStoredRun } from './resume.ts'
import { completeOutside, signalRun } from './steer-run.ts'
import { startSession } from './start.ts'
import { planUndo, undoStoredRun } from './undo.ts'
import { conversationOf } from './interface/timeline.ts'

/** How long `close` waits for what is in flight. */
const GRACE_MS = 10_000

export function createEngine(parts: EngineParts): Engine {
  const { store, timers = systemTimers } = parts
  const notifier = createNotifier()
  const driver = createDriver(parts, notifier, () => queue)
  const queue: SessionQueue = createEmbeddedQueue(
    { wake: (id) => driver.wake(id), applyDueTimers: () => driver.applyDueTimers() },
    parts.clock,
    timers,
  )
  const claims = createClaimTimer(parts, driver, notifier, queue)
  const answerOnce = createAnswerLock()
  let closing = false
  let closed: Promise<void> | undefined
  /** Starts that were accepted before `close`, which waits for them. */
  const starting = new Set<Promise<unknown>>()
  async function close(graceMs: number): Promise<void> {
    closing = true
    claims.stop()
    await Promise.all(starting)
    await driver.close(graceMs)
    await queue.close()
  }
  const start: Engine['start'] = (request) => {
    if (closing) return Promise.reject(fail('shutting_down'))
    const started = startSession(parts, request, driver)
    const done: Promise<unknown> = started.catch(() => {}).finally(() => starting.delete(done))
    starting.add(done)
    return started
  }
  const writesWith = (act: NewAct | undefined): RecordedWrites => (act ? store.recording(act) : store)
  return {
    store,
    start,
    gate: createClientGate({ parts, driver, notifier, start }),
    async answer(runId, given, hidden = false, idempotency, act) {
      if (!idempotency) return answerRun(parts, driver, runId, given, { hidden, act })
      const claim = claimOf(parts, given.by, `POST /v1/runs/${runId}/messages`, idempotency)
      return answerOnce(claim, () => answerUnlessRepeated(parts, driver, runId, given, { hidden, act }, claim))
    },
    signal: (runId, name, data) => signalRun(parts, driver, runId, name, data),
    complete: (token, report) => completeOutside(parts, driver, token, report),
    probe: (taskId, principal, signal) => probeCall(parts, driver, taskId, principal, signal),
    async cancel(runId, principal, reason, act) {
      const run = await store.run(runId)
      if (!run) throw fail('not_found', { what: 'run' })
      const undone = undoneCallOf(run)
      if (undone && principal.type === 'api_key') throw fail('undo_out_of_scope', { runId, undone: undone.runId })
      const why = reason === undefined ? null : parts.redactor.text(reason)
      const status = await driver.post(
        run.sessionId,
        (tx) => {
          tx.recordAct(act)
          advanceRun(tx.run(runId), { type: 'cancelled', reason: why, by: approverOf(principal) })
          return tx.run(runId).statusNow()
        },
        { about: [runId] },
      )
      return { runId, status }
    },
    fork: (source, request) => startFork(parts, driver, source, request),
    planUndo: (runId) => planUndo(parts, driver, runId),
    undo: (runId, request) => undoStoredRun(parts, driver, runId, request),
    migrate: (runId, request) => migrateStoredRun(parts, driver, runId, request),
    resume: (runId, request) => resumeStoredRun(parts, driver, runId, request),
    async erase(sessionId, act) {
      await writesWith(act).eraseSession(sessionId, parts.clock.now())
      // Drops the copy in memory as well.
      await driver.release(sessionId)
    },
    follow: (run, after, signal) => followRunEvents({ store, notifier, driver }, run, after, signal),
    text: notifier,
    watch: (listener) => notifier.watch(listener),
    fullSince: (sessionId) => driver.fullSince(sessionId),
    nextAttempt: (cause) => driver.nextAttempt(cause),
    leasesHeld: () => driver.leasesHeld(),
    waitForPause: (run, signal) => waitForPause(store, notifier, driver, run, signal),
    conversation: (sessionId, part) => conversationOf(store, sessionId, part),
    recover: () => claims.start(),
    async release(sessions, triggers, whole, act) {
      // Before the release: a crash in between counts the time from here again, and never loses it.
      for (const id of sessions) await driver.endHold(id)
      await writesWith(act).releaseRestored(sessions, triggers, whole)
      for (const id of sessions) await driver.release(id)
      // Those that began in the meantime.
      if (whole) await driver.claimAll()
      await claims.scheduleNextTimer()
    },
    async setPaused(workspaceId, pause, act) {
      const isChanged = await writesWith(act).setPaused(workspaceId, pause)
      // Also where nothing changed: an earlier request may have been stored, and its pause not read back.
      await driver.pausesChanged()
      return isChanged
    },
    pauses: (workspaceId) => readPausesInForce(parts, workspaceId),
    async reportCheckpoint(report) {
      await store.keepCheckpointReport(report)
      await driver.pausesChanged()
    },
    close: (graceMs = GRACE_MS) => (closed ??= close(graceMs)),
  }
}

/** Runs answers with the same idempotency key one after the other: a repetition waits for the first. */
function createAnswerLock(): <T>(claim: OpenClaim, answer: () => Promise<T>) => Promise<T> {
  const answering = new Map<string, Promise<unknown>>()
  return async ({ principal, route, key }, answer) => {
    const twin = `${principal} ${route} ${key}`
    while (answering.has(twin)) await answering.get(twin)
    const answered = answer()
    const done = answered.catch(() => {}).finally(() => answering.delete(twin))
    answering.set(twin, done)
    return answered
  }
}
