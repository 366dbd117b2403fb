/** Waits of runs for people. Time spent waiting is not wall clock time; `max_hitl_wait_minutes` bounds part of it. */
import type { Instant } from '../../base/clock.ts'
import type { RunId } from '../../base/ids.ts'
import { pausedSince } from '../../spec/run/hold.ts'
import { taskOfState, type Run, type RunUsage } from '../../spec/run/run.ts'
import type { TaskRecord } from '../../spec/task.ts'

/** `limit`: waits for an operator to grant more, or to end a pause, which uses no budget. `person`: every other wait, which does. */
export type WaitBudget = 'person' | 'limit'

/** The wait of each run, including those of its descendants. */
export function waitsOf(runs: readonly Run[], tasks: readonly TaskRecord[]): ReadonlyMap<RunId, WaitBudget> {
  const waits = new Map<RunId, WaitBudget>()
  if (!runs.some(ownWait)) return waits
  const parents = new Map(runs.map((run) => [run.id, run.parentRunId]))
  for (const run of runs) {
    const wait = ownWait(run)
    if (!wait) continue
    for (let at: RunId | null = run.id; at !== null; at = parents.get(at) ?? null)
      if (waits.get(at) !== 'person') waits.set(at, wait)
  }
  for (const { about, runId } of tasks) if (about === 'limit' && waits.has(runId)) waits.set(runId, 'limit')
  return waits
}

function ownWait({ state }: Run): WaitBudget | undefined {
  if (state.at === 'held') return 'limit'
  if (state.at === 'reviewing') return 'person'
  const waits =
    state.at === 'calling' &&
    state.calls.some((call) => taskOfState(call.state) !== undefined || call.state.at === 'listening')
  if (waits) return 'person'
  // Time under an operator's pause does not count.
  return pausedSince({ state }) === undefined ? undefined : 'limit'
}

/** The wait that a run's usage counts now. */
export function countedWait({ waitingSince, onLimit }: RunUsage): WaitBudget | undefined {
  if (waitingSince === null) return undefined
  return onLimit ? 'limit' : 'person'
}

/** Usage that counts the hold of a restore up to now: neither the run nor its present wait uses this time. */
export function withHoldCounted(usage: RunUsage, heldSince: Instant, now: Instant): RunUsage {
  const { heldMs = 0, waitingSince, holdCountedTo = 0 } = usage
  const ms = Math.max(0, now - Math.max(heldSince, holdCountedTo))
  return {
    ...usage,
    heldMs: heldMs + ms,
    waitingSince: waitingSince === null ? null : waitingSince + ms,
    holdCountedTo: now,
  }
}

/** Usage that counts the time between the end and the resumption of a run: it uses no budget. */
export const withEndCounted = (usage: RunUsage, endedAt: Instant, now: Instant): RunUsage => ({
  ...usage,
  heldMs: (usage.heldMs ?? 0) + Math.max(0, now - endedAt),
})

/** Usage with its current wait ended and added to the total. */
export function withWaitEnded(usage: RunUsage, now: Instant): RunUsage {
  if (usage.waitingSince === null) return usage
  const { onLimit, ...ended } = usage
  const { waitingSince, waitedMs, heldMs = 0 } = usage
  const ms = now - waitingSince
  return { ...ended, waitingSince: null, ...(onLimit ? { heldMs: heldMs + ms } : { waitedMs: waitedMs + ms }) }
}
