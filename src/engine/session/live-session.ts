/** A session in memory while something happens to it: what is stored, and what this process has under way. */
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import type { CallRow, Store, SessionTree, SessionUpdate } from '../../store/store.ts'
import { changedSession } from './changed.ts'
import { callKey } from './transaction.ts'
import type { VersionLookup } from './versions.ts'

export interface LiveSession {
  tree: SessionTree
  readonly versions: VersionLookup
  readonly steps: Map<RunId, RunStep[]>
  /** By `callKey`. */
  readonly calls: Map<string, CallRow>
  /** True for a session from a backup that was not released: what happens to it is kept, and nothing leaves this process. */
  readonly isHeld: boolean
  /** Nothing that is said next may be said to be before this. */
  lastAt: Instant
}

export function createLive(
  tree: SessionTree,
  steps: readonly RunStep[],
  calls: readonly CallRow[],
  versions: VersionLookup,
  isHeld = false,
): LiveSession {
  const live: LiveSession = { tree, versions, steps: new Map(), calls: new Map(), isHeld, lastAt: 0 }
  for (const run of tree.runs) live.lastAt = Math.max(live.lastAt, run.startedAt, run.finishedAt ?? 0)
  for (const step of steps) addStep(live, step)
  for (const row of calls) live.calls.set(callKey(row.runId, row.callId), row)
  return live
}

export async function loadLive(
  store: Store,
  id: SessionId,
  versionsOf: (tree: SessionTree) => VersionLookup,
): Promise<LiveSession | undefined> {
  const tree = await store.load(id)
  if (!tree) return undefined
  const [steps, calls, heldAt] = await Promise.all([
    store.stepsOfSession(id),
    store.calls({ sessionId: id }),
    store.restoredAt(id),
  ])
  return createLive(tree, steps, calls, versionsOf(tree), heldAt !== undefined)
}

/** Takes over what a saved turn says. */
export function takeUpdate(live: LiveSession, turn: SessionUpdate, now: Instant): void {
  live.tree = {
    session: changedSession(turn.session, { version: turn.session.version + 1 }),
    runs: merge(live.tree.runs, turn.runs),
    tasks: merge(live.tree.tasks, turn.tasks).filter((task) => task.status === 'pending'),
  }
  for (const step of turn.steps) addStep(live, step)
  for (const end of turn.closedSteps) {
    for (const steps of live.steps.values()) {
      const at = steps.findLastIndex((step) => step.id === end.id)
      if (at >= 0) steps[at] = { ...steps[at]!, finishedAt: end.finishedAt, error: end.error }
    }
  }
  for (const row of turn.calls) live.calls.set(callKey(row.runId, row.callId), row)
  live.lastAt = Math.max(live.lastAt, now)
}

/** What changed stands where it stood; what is new comes last. */
function merge<T extends { readonly id: string }>(all: readonly T[], changed: readonly T[]): readonly T[] {
  if (changed.length === 0) return all
  const byId = new Map(all.map((each) => [each.id, each]))
  for (const each of changed) byId.set(each.id, each)
  return [...byId.values()]
}

function addStep(live: LiveSession, step: RunStep): void {
  const steps = live.steps.get(step.runId)
  if (steps) steps.push(step)
  else live.steps.set(step.runId, [step])
  live.lastAt = Math.max(live.lastAt, step.startedAt, step.finishedAt ?? 0)
}
