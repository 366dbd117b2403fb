import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { ownStoreClock, type Clock } from '../../base/clock.ts'
import { type Failure, fail } from '../../base/failure.ts'
import type { Log } from '../../base/log.ts'
import type { SessionId } from '../../base/ids.ts'
import type { NewAct } from '../../spec/people/act.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { SQLITE } from '../dialect.ts'
import type { SessionHint } from '../lease.ts'
import { actOfAnswer, type DescribeAct, type RecordedWrites } from '../act-store.ts'
import { prepareActs } from '../nouns/acts.ts'
import { insertNotices } from '../nouns/notices.ts'
import { markTraced } from '../nouns/trace-marks.ts'
import { prepareRuns } from '../nouns/runs.ts'
import { EARLIER_REQUESTS } from '../nouns/earlier-requests.ts'
import { prepareSessions } from '../nouns/sessions.ts'
import { prepareTasks } from '../nouns/tasks.ts'
import { createOutageLog, type OutageLog } from '../outage-log.ts'
import type { Store } from '../store.ts'
import { openAgents } from './agents.ts'
import { ballastOf, openBallast, NO_BALLAST } from './database/ballast.ts'
import { openCalls } from './calls.ts'
import { openCosts } from './spending/costs.ts'
import { openDatabase } from './database/database.ts'
import { openEffects } from './effects.ts'
import { openEvents } from './events.ts'
import { deleteRunRows } from './sessions/delete-runs.ts'
import { prepareCallDeletion, prepareDeletion } from './sessions/delete-sessions.ts'
import { prepareErasure } from './sessions/erase-session.ts'
import { openIdempotency } from './idempotency.ts'
import { openLeases, releaseAllLeases } from './sessions/leases.ts'
import { openSessionClaims } from './sessions/session-claims.ts'
import { createPrivateFile } from './database/private-file.ts'
import { openPlan } from './spending/plan.ts'
import { openQuotas } from './spending/quotas.ts'
import { openRestored } from './sessions/restored.ts'
import { openRuns } from './runs.ts'
import { openLabels } from './sessions/session-labels.ts'
import { openSessionLinks } from './sessions/session-links.ts'
import { openSessions } from './sessions/sessions.ts'
import { openSteps } from './steps.ts'
import { openTasks } from './tasks.ts'
import { openTimers } from './timers.ts'
import { openSessionUpdates } from './updates.ts'
import { openWorkers } from './workers.ts'
import { onDamage } from './database/guarded-statements.ts'
import { createWorkRunner } from './database/run-work.ts'
import { createWriter, type GroupWriter } from './database/writer.ts'
import { openHistoryFence } from './history-fence.ts'
import { openKeyUses } from './keys.ts'
import { prepareNouns } from './nouns.ts'

export interface SqliteOptions {
  readonly clock: Clock
  /** Disk space reserved beside the file for when the disk is full; none by default. */
  readonly ballastBytes?: number
  /** Is told when the disk is full, and when there is room again. */
  readonly log?: Log
  /** Is told of each statement that fails because the file cannot be read any more: Failure `store_unreadable`. */
  readonly damaged?: (failure: Failure) => void
}

/**
 * Opens the store of one process: a SQLite file, or memory. Reads return committed data at once; writes wait for the commit
 * of their group. The caller must hold the lock of the file's directory (`lockDirectory`).
 * @param path a file, or `:memory:`
 * @throws Failure `store_unreadable`
 */
export function openSqlite(path: string, { clock, ballastBytes = 0, log, damaged }: SqliteOptions): Store {
  const db = openDatabase(path)
  if (damaged) onDamage(db, damaged)
  releaseAllLeases(db)
  const ballast = ballastBytes > 0 ? openBallast(ballastOf(dirname(path)), ballastBytes, clock) : NO_BALLAST
  return createSqliteStore(db, clock, ballast, log && createOutageLog(log))
}

/** Creates the store over an open database. SQLite refuses writes to a read-only connection. */
export function createSqliteStore(db: Database, clock: Clock, ballast = NO_BALLAST, outages?: OutageLog): Store {
  const agents = openAgents(db)
  const sessions = openSessions(db, agents)
  const runs = openRuns(db, agents)
  const steps = openSteps(db)
  const events = openEvents(db)
  const links = openSessionLinks(db)
  const run = createWorkRunner(db)
  const [{ treesOf }, { pendingTasks }] = [prepareRuns(SQLITE).reads, prepareTasks(SQLITE).reads]
  const [{ session }, { findEarlierStart }] = [prepareSessions(SQLITE).reads, EARLIER_REQUESTS.reads]
  const readPending = (sessionId: SessionId): readonly TaskRecord[] => run(pendingTasks(sessionId))
  const tasks = openTasks(db, agents, readPending)
  const calls = openCalls(db)
  const effects = openEffects(db)
  const timers = openTimers(db)
  const costs = openCosts(db)
  const quotas = openQuotas(db, costs)
  const idempotency = openIdempotency(db)
  const labels = openLabels(db)
  const eraseSession = prepareErasure(db)
  const deleteEnded = prepareDeletion(db)
  const deleteKeptCalls = prepareCallDeletion(db)
  const restored = openRestored(db)
  const { transactions: acts } = prepareActs(SQLITE)
  const addAct = (act: NewAct): void => run(acts.addAct(act))
  const updates = openSessionUpdates({
    restored,
    labels,
    sessions,
    runs,
    steps,
    events,
    links,
    tasks,
    calls,
    readTrees: (sessionId, ids) => run(treesOf(sessionId, ids)),
    readPending,
    readSession: (id) => run(session(id)),
    findEarlierStart: (...request) => run(findEarlierStart(...request)),
    effects,
    history: openHistoryFence(db),
    timers,
    quotas,
    costs,
    plan: openPlan(db, quotas, costs),
    agents,
    idempotency,
    addNotices: (notices) => run(insertNotices(notices)),
    markTraced: (update) => run(markTraced(update)),
    addAct,
    clock,
  })
  const leases = openLeases(db, clock)
  const sessionClaims = openSessionClaims(db, clock)
  const keys = openKeyUses(db)
  const memories = [agents.sums, costs.sums, quotas.sums, links.heads]
  const { write, flush } = createWriter(db, memories, keys.writeDueUses, ballast, outages)
  const bindNouns = prepareNouns(db, keys, restored.heldSince)
  const bindSessionWrites = (write: GroupWriter['write']) =>
    ({
      labelSession: (id, given) => write(() => updates.label(id, given)),
      async eraseSession(id, at) {
        await write(() => eraseSession(id, at), true)
        // Otherwise the log of the database would keep what was there before.
        db.pragma('wal_checkpoint(truncate)')
      },
      deleteEndedSessions: (before, limit) => write(() => deleteEnded(before, limit)),
      deleteKeptCalls: (before, limit) => write(() => deleteKeptCalls(before, limit)),
      deleteAllRuns: () =>
        write(() => {
          for (const each of memories) each.write()
          deleteRunRows(db)
        }),
      releaseRestored: (sessionIds, triggerIds, whole) => write(() => restored.release(sessionIds, triggerIds, whole)),
    }) satisfies Partial<Store>
  /** Writes an act with each write, or neither. */
  const recordingWrite =
    (describe: DescribeAct): GroupWriter['write'] =>
    (work, mustSucceed) =>
      write(() => {
        const answer = work()
        const act = actOfAnswer(describe, answer)
        if (act) addAct(act)
        return answer
      }, mustSucceed)

  return {
    clock: ownStoreClock(clock),
    ...bindNouns(write),
    ...bindSessionWrites(write),
    ...sessions.reads,
    ...tasks.reads,
    ...timers.reads,
    ...restored.reads,
    ...costs.reads,
    start: (update, limits, claim, holder) => write(() => updates.start(update, limits, claim, holder)),
    load: async (sessionId) => updates.load(sessionId),
    save: (update, holder) => write(() => reportRefusedContent(() => updates.save(update, holder)), true),
    waitingSessions: async (most) => leases.waiting(most),
    // Without work there is nothing to commit.
    claim: async (worker, most, ttlMs) =>
      sessionClaims.hasUnheld() ? await write(() => sessionClaims.claim(worker, most, ttlMs)) : [],
    // On a full disk too: without a lease the outcome of an effect could not be saved.
    claimOne: (worker, id, ttlMs) => write(() => leases.claimOne(worker, id, ttlMs), true),
    renew: (worker, ttlMs) => write(() => leases.renew(worker, ttlMs), true),
    release: (worker, given) => write(() => leases.release(worker, given)),
    hints: noHints,
    ...openWorkers(db, clock),
    recording(act): RecordedWrites {
      const recorded = recordingWrite(act)
      return { ...bindNouns(recorded), ...bindSessionWrites(recorded) }
    },
    async backup(path) {
      createPrivateFile(path)
      await db.backup(path)
    },
    async close() {
      if (!db.open) return
      if (db.readonly) return void db.close()
      const last = write(keys.writeAllUses, true)
      flush()
      await last
      db.close()
    },
  }
}

/** The lock of the directory makes this process the only writer: nobody else changes a session. */
const noHints = (signal: AbortSignal): AsyncIterable<SessionHint> => ({
  [Symbol.asyncIterator]: () => ({
    next: () =>
      new Promise((resolve) => {
        const end = (): void => resolve({ done: true, value: undefined })
        if (signal.aborted) end()
        else signal.addEventListener('abort', end, { once: true })
      }),
  }),
})

/** Error codes of SQLite that are caused by the written content, not by the disk or another process. */
const CONTENT_ERROR = /^SQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH|RANGE)/

/**
 * Runs a write and distinguishes refused content, which no retry can fix, from errors of the disk or of another process.
 * @throws Failure `state_not_saved` when the content is refused
 */
function reportRefusedContent<T>(write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (isContentError(error)) throw fail('state_not_saved', { why: (error as Error).message }, { cause: error })
    throw error
  }
}

// A text that is too long for JavaScript or SQLite is a RangeError; a value that cannot be bound is a TypeError.
const isContentError = (error: unknown): boolean =>
  error instanceof RangeError ||
  error instanceof TypeError ||
  (error instanceof Error && 'code' in error && typeof error.code === 'string' && CONTENT_ERROR.test(error.code))
