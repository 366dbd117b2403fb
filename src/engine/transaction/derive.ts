/** Derives what follows from the states of the runs when a transaction is saved: their statuses and their waits. */
import type { RunId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { holdWithin, restoredHold, waitsForAgent } from '../../spec/run/hold.ts'
import { pendingOf } from '../../view/pending.ts'
import { isTerminal, type Run } from '../../spec/run/run.ts'
import { statusesOf } from './status.ts'
import type { PlanChange, PlanReservation } from '../../store/session-update.ts'
import type { RunHandle, SessionTransaction } from './transaction.ts'
import { rootOfRun } from './usage.ts'
import { withWaitEnded, countedWait, waitsOf } from './waits.ts'

/** Sets the statuses. Deepest first, so that readers see the event of the waiting run before those of its ancestors. */
export function deriveStatuses(tx: SessionTransaction): void {
  const statuses = statusesOf(tx.runs())
  for (const { id, status: before } of [...tx.runs()].sort((a, b) => b.depth - a.depth)) {
    const status = statuses.get(id)!
    if (status === before || isTerminal(before)) continue
    const run = tx.run(id)
    run.update({ status })
    if (isTerminal(status)) continue
    // A person's answer to a held run takes effect only after its release.
    const held = status === 'Running' ? tx.context.heldSince : undefined
    const resumes = status === 'Running' || (status === 'WaitingForAITL' && before === 'WaitingForHITL')
    const subject = resumes && held === undefined ? 'resumed' : 'paused'
    const data = { status, output: null, error: null, ...(held !== undefined && restoredHold(held)) }
    const pending = subject === 'paused' ? { pending: pendingNow(run) } : {}
    run.addEvent('run', `engine.run.${subject}`, { ...data, ...pending })
    if (id === tx.session.rootRunId) run.addEvent('session', `engine.session.${subject}`, data)
  }
}

/**
 * Taints the newest root run with any other tree of the session: the next one takes its taint from there, as runs that are over are
 * not read.
 */
export function deriveTaint(tx: SessionTransaction): void {
  const newest = tx.run(tx.session.rootRunId)
  if (newest.usage.tainted) return
  const isElsewhere = ({ id, usage }: Run): boolean => usage.tainted && rootOfRun(tx.run(id)).id !== newest.id
  if (tx.runs().some(isElsewhere)) newest.updateUsage({ tainted: true })
}

/**
 * Adds events for runs that an outage or a pause begins or ceases to hold. Skips runs whose status event says so already,
 * and changes of the next attempt's time.
 * @param before the runs as they were read
 */
export function deriveHolds(tx: SessionTransaction, before: readonly Run[]): void {
  const now = tx.runs()
  for (const was of before.length > 1 ? before.toSorted((a, b) => b.depth - a.depth) : before) {
    const run = tx.run(was.id)
    const mayDiffer = run.state !== was.state || waitsForAgent(was)
    if (!mayDiffer || run.record.status !== 'Running') continue
    const [earlier, hold] = [holdWithin(was, before), holdWithin(run, now)]
    if (earlier?.reason === hold?.reason || (!hold && was.status !== 'Running')) continue
    const data = { status: 'Running', output: null, error: null, ...(hold && { hold }) }
    const subject = hold ? 'paused' : 'resumed'
    run.addEvent('run', `engine.run.${subject}`, { ...data, ...(hold && { pending: [] }) })
    if (run.id === tx.session.rootRunId) run.addEvent('session', `engine.session.${subject}`, data)
  }
}

/**
 * The reservations in the plan of the workspace that begin, and those that end with their completions.
 * @param before the runs as they were read
 */
export function derivePlan(tx: SessionTransaction, before: readonly Run[]): { readonly plan?: PlanChange } {
  const earlier = new Map(before.map((run) => [run.id, reservationOf(run)]))
  const reserves: PlanReservation[] = []
  const frees: RunId[] = []
  for (const run of tx.runs()) {
    const [was, is] = [earlier.get(run.id), reservationOf(run)]
    // The reservation of another attempt replaces it.
    if (is && is !== was) reserves.push({ runId: run.id, ...is })
    else if (was && !is) frees.push(run.id)
  }
  return reserves.length + frees.length === 0 ? {} : { plan: { cap: tx.context.plan?.cap ?? {}, reserves, frees } }
}

const reservationOf = ({ state }: Run) => (state.at === 'thinking' && !state.unsent ? state.reservedPlan : undefined)

/** In an event large arguments are references, so that the log does not keep them again. */
const pendingNow = ({ tx, record }: RunHandle): JsonValue =>
  toJson(pendingOf(record, { runs: tx.runs(), tasks: tx.pendingTasks() }, true))

/** Starts, ends and reclassifies waits: time spent waiting is not wall clock time, and may have a budget of its own. */
export function deriveWaits(tx: SessionTransaction): void {
  const { now } = tx
  const waits = waitsOf(tx.runs(), tx.pendingTasks())
  for (const { id, state, usage: before } of tx.runs()) {
    const wait = waits.get(id)
    if (state.at === 'done' || wait === countedWait(before)) continue
    const run = tx.run(id)
    const usage = {
      ...withWaitEnded(before, now),
      ...(wait && { waitingSince: now, ...(wait === 'limit' && { onLimit: true as const }) }),
    }
    run.update({ usage })
    setBudgetTimers(run)
  }
}

/** Sets the timers of the limits on time, by the wait that the run's usage counts. */
export function setBudgetTimers(run: RunHandle): void {
  const { max_hitl_wait_minutes: hitlWait, max_wall_clock_seconds: wallClock } = run.snapshot.limits
  const { waitedMs, heldMs = 0, waitingSince, grants } = run.usage
  const wait = countedWait(run.usage)
  if (hitlWait !== undefined) {
    const budget = hitlWait * 60_000 * (1 + (grants.max_hitl_wait_minutes ?? 0))
    const from = waitingSince ?? run.tx.now
    run.setTimer('hitl_wait', '', wait === 'person' ? from + Math.max(0, budget - waitedMs) : null)
  }
  if (wallClock !== undefined) {
    const budget = wallClock * 1000 * (1 + (grants.max_wall_clock_seconds ?? 0))
    run.setTimer('wall_clock', '', wait ? null : run.record.startedAt + waitedMs + heldMs + budget)
  }
}
