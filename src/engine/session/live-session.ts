/** A session in memory: its stored state and the versions its runs use. */
import type { Instant } from '../../base/clock.ts'
import type { RunId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import type { CallRow, SessionTree, SessionUpdate, SessionUpdateEvent } from '../../store/session-update.ts'
import type { WorkerId } from '../../store/lease.ts'
import { callKey } from './keys.ts'
import type { VersionLookup } from './versions.ts'

export interface LiveSession {
  /** With the runs that may change; see `Store.load`. */
  tree: SessionTree
  readonly versions: VersionLookup
  readonly steps: Map<RunId, RunStep[]>
  /** What was said in root runs before the newest one. */
  readonly said: readonly RunStep[]
  /** The newest events, without a gap, that were saved since it is in memory. */
  events: readonly SessionUpdateEvent[]
  /** Since when all calls of the session are in `calls`; before that, only those of the runs in `tree`. */
  callsSince: Instant
  /** By `callKey`. */
  readonly calls: Map<string, CallRow>
  /** The holder of its lease when it was read. */
  readonly heldBy: WorkerId | undefined
  /** True where another run repeats one of its runs. Who starts such a run saves this session, which is then read again. */
  readonly isRepeated: boolean
  /** Texts of attached files by run, where they were read. */
  readonly attached: Map<RunId, readonly string[]>
  /** True for a session restored from a backup and not released yet: changes are stored, but no effect starts. */
  readonly isHeld: boolean
  /** Since when; undefined where it is not held. */
  readonly heldSince: Instant | undefined
  /** Newest time recorded; no later record may be older. */
  lastAt: Instant
}

export function createLive(
  tree: SessionTree,
  steps: readonly RunStep[],
  calls: readonly CallRow[],
  versions: VersionLookup,
  {
    heldSince,
    heldBy,
    isRepeated = false,
    said = [],
  }: Partial<Pick<LiveSession, 'heldSince' | 'heldBy' | 'isRepeated' | 'said'>> = {},
): LiveSession {
  const isHeld = heldSince !== undefined
  const live: LiveSession = {
    tree,
    versions,
    steps: new Map(),
    said,
    events: [],
    callsSince: Infinity,
    calls: new Map(),
    heldBy,
    isRepeated,
    attached: new Map(),
    isHeld,
    heldSince,
    lastAt: 0,
  }
  for (const run of tree.runs) live.lastAt = Math.max(live.lastAt, run.startedAt, run.finishedAt ?? 0)
  for (const step of steps) addStep(live, step)
  for (const row of calls) live.calls.set(callKey(row.runId, row.callId), row)
  return live
}

/** Applies a saved update to the session in memory. */
export function takeUpdate(live: LiveSession, update: SessionUpdate, now: Instant): void {
  live.tree = {
    session: { ...update.session, version: update.session.version + 1 },
    runs: mergeById(live.tree.runs, update.runs),
    tasks: mergeById(live.tree.tasks, update.tasks).filter((task) => task.status === 'pending'),
  }
  for (const step of update.steps) {
    addStep(live, step)
    // A message may bring files.
    if (step.type === 'UserMessage') live.attached.delete(step.runId)
  }
  for (const end of update.closedSteps) {
    for (const steps of live.steps.values()) {
      const at = steps.findLastIndex((step) => step.id === end.id)
      if (at >= 0) steps[at] = { ...steps[at]!, finishedAt: end.finishedAt, error: end.error }
    }
  }
  for (const row of update.calls) live.calls.set(callKey(row.runId, row.callId), row)
  live.events = [...live.events, ...update.events].slice(-MAX_EVENTS)
  live.lastAt = Math.max(live.lastAt, now)
}

/** Kept for readers of the session's stream, who mostly come at its start. */
const MAX_EVENTS = 255

/** Changed items keep their place; new ones come last. */
function mergeById<T extends { readonly id: string }>(all: readonly T[], changed: readonly T[]): readonly T[] {
  if (changed.length === 0) return all
  const byId = new Map(all.map((each) => [each.id, each]))
  for (const each of changed) byId.set(each.id, each)
  return [...byId.values()]
}

export function addStep(live: LiveSession, step: RunStep): void {
  const steps = live.steps.get(step.runId)
  if (steps) steps.push(step)
  else live.steps.set(step.runId, [step])
  live.lastAt = Math.max(live.lastAt, step.startedAt, step.finishedAt ?? 0)
}
