import type { Clock } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { IdempotencyClaim, StartOutcome, StartLimits, SessionTree, SessionUpdate } from '../store.ts'
import type { CallTable } from './calls.ts'
import type { EventTable } from './events.ts'
import type { IdempotencyTable } from './idempotency.ts'
import type { QuotaTable } from './quotas.ts'
import type { RunTable } from './runs.ts'
import type { SessionTable } from './sessions.ts'
import type { StepTable } from './steps.ts'
import type { TaskTable } from './tasks.ts'
import type { TimerTable } from './timers.ts'

interface UpdateTables {
  readonly sessions: SessionTable
  readonly runs: RunTable
  readonly steps: StepTable
  readonly events: EventTable
  readonly tasks: TaskTable
  readonly calls: CallTable
  readonly timers: TimerTable
  readonly quotas: QuotaTable
  readonly idempotency: IdempotencyTable
  readonly clock: Clock
}

/** What one move of a session writes. Each method is the body of one write and runs inside its savepoint. */
export interface SessionUpdates {
  start(turn: SessionUpdate, limits: StartLimits, claim?: IdempotencyClaim): StartOutcome
  /** @throws Failure `run_moved_on`, `not_found` */
  save(turn: SessionUpdate): void
  load(sessionId: SessionId): SessionTree | undefined
}

export function openTurns(parts: UpdateTables): SessionUpdates {
  const { sessions, runs, steps, events, tasks, calls, timers, quotas, idempotency, clock } = parts

  const write = (n: number, turn: SessionUpdate) => {
    const numbers = new Map<RunId, number>()
    const runNumber = (id: RunId): number => {
      const n = numbers.get(id) ?? runs.numberOf(id)
      if (n === undefined) throw new Error(`Run ${id} is not in the store.`)
      numbers.set(id, n)
      return n
    }
    for (const run of turn.runs) numbers.set(run.id, runs.put(n, run))
    for (const step of turn.steps) steps.add(n, runNumber(step.runId), step)
    for (const end of turn.closedSteps) steps.close(n, end)
    tasks.put(n, turn.tasks, (task) => runNumber(task.runId))
    for (const call of turn.calls) calls.put(n, runNumber(call.runId), call)
    const changed = new Map(turn.runs.map((run) => [run.id, run]))
    for (const event of turn.events) events.add(n, runNumber(event.runId), event, changed.get(event.runId))
    // Cleared first, so that a turn may set a timer anew.
    for (const timer of turn.clearTimers) timers.clear(n, runNumber(timer.runId), timer)
    for (const timer of turn.setTimers) timers.set(n, runNumber(timer.runId), timer)
  }

  return {
    start(turn, limits, claim) {
      const now = clock.now()
      const { session } = turn
      if (claim) {
        const { principal, route, key, bodyDigest } = claim
        const earlier = idempotency.find(principal, route, key, bodyDigest, now)
        if (earlier) return earlier
      }
      const refusal = quotas.admit(session, limits, now)
      if (refusal) return refusal
      if (claim) idempotency.keep(claim, now)
      checkNumbers(turn, 0)
      write(sessions.insert(turn), turn)
      return { outcome: 'started' }
    },
    save(turn) {
      const { session } = turn
      const seen = sessions.seen(session.id)
      if (!seen) throw fail('not_found', { what: 'session' })
      if (seen.version !== session.version) throw fail('run_moved_on', { sessionId: session.id, seen: session.version })
      checkNumbers(turn, seen.lastSeq)
      const tokens = session.totalTokensUsed - seen.tokens
      if (tokens > 0) quotas.addTokens(session.workspaceId, tokens, clock.now())
      sessions.update(seen, turn)
      write(seen.n, turn)
    },
    load(sessionId) {
      const n = sessions.numberOf(sessionId)
      const session = sessions.get(sessionId)
      if (n === undefined || !session) return undefined
      return { session, runs: runs.ofSession(n), tasks: tasks.pendingOf(n) }
    },
  }
}

/** A reader that resumes by number relies on it: events follow the last ones without a gap. */
function checkNumbers({ session, events }: SessionUpdate, lastSeq: number): void {
  const gap = events.some((event, index) => event.seq !== lastSeq + index + 1)
  if (gap || session.lastSeq !== lastSeq + events.length)
    throw new Error(`Events of session ${session.id} do not follow number ${lastSeq} without a gap.`)
}
