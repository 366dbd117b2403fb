/** A session in memory: its stored state and the versions its runs use. */
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run.ts'
import type { RunStep } from '../../spec/step.ts'
import type { CallRow, SessionTree, SessionUpdate } from '../../store/session-update.ts'
import type { WorkerId } from '../../store/lease.ts'
import type { Store } from '../../store/store.ts'
import { callKey } from './keys.ts'
import { MAX_MESSAGES, messagesOfRun } from './prompt/earlier.ts'
import { isRepeatedSession } from './related-calls.ts'
import type { VersionLookup } from './versions.ts'

export interface LiveSession {
  tree: SessionTree
  readonly versions: VersionLookup
  readonly steps: Map<RunId, RunStep[]>
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
  { heldSince, heldBy, isRepeated = false }: Partial<Pick<LiveSession, 'heldSince' | 'heldBy' | 'isRepeated'>> = {},
): LiveSession {
  const isHeld = heldSince !== undefined
  const live: LiveSession = {
    tree,
    versions,
    steps: new Map(),
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

export async function loadLive(
  store: Store,
  id: SessionId,
  versionsOf: (tree: SessionTree) => VersionLookup,
): Promise<LiveSession | undefined> {
  const stored = await store.load(id)
  if (!stored) return undefined
  const { heldBy, ...tree } = stored
  const [steps, calls, heldSince, isRepeated] = await Promise.all([
    readSteps(store, tree),
    store.calls({ sessionId: id }),
    store.restoredAt(id),
    isRepeatedSession(store, tree),
  ])
  return createLive(tree, steps, calls, versionsOf(tree), { heldSince, heldBy, isRepeated })
}

/** More messages than any model gets from earlier runs. */
const MAX_SAID_LENGTH = 8 * 1024 * 1024

/**
 * The steps that a session continues with: all steps of runs that may still change; of ended root runs only messages and
 * outputs, as far back as a prompt may reach. So the hundredth run of a session reads little more than the second.
 */
async function readSteps(store: Store, tree: SessionTree): Promise<readonly RunStep[]> {
  const over = rootsThatAreOver(tree)
  // An erased session has no messages.
  if (over.length === 0 || tree.session.erasedAt !== undefined) return store.stepsOfSession(tree.session.id)
  const roots = new Set<RunId>(over.map(({ id }) => id))
  const rootOf = createRootLookup(tree.runs)
  const others = tree.runs.filter(({ id }) => !roots.has(rootOf(id)))
  const steps = (await Promise.all(others.map(({ id }) => store.stepsOfRun(id)))).flat()
  let [count, length] = [0, 0]
  for (const { id } of over.toReversed()) {
    if (count >= MAX_MESSAGES || length >= MAX_SAID_LENGTH) break
    const spoken = await store.saidInRun(id)
    steps.push(...spoken)
    for (const { text } of messagesOfRun(spoken)) {
      count++
      length += text.length
    }
  }
  return steps.sort((a, b) => a.ordinal - b.ordinal)
}

/** Earlier root runs whose trees can no longer change, oldest first. */
function rootsThatAreOver({ session, runs, tasks }: SessionTree): readonly Run[] {
  const roots = runs.filter(({ id, parentRunId }) => parentRunId === null && id !== session.rootRunId)
  if (roots.length === 0) return []
  const rootOf = createRootLookup(runs)
  const changing = new Set<RunId>(runs.filter(({ state }) => state.at !== 'done').map(({ id }) => rootOf(id)))
  // The review of a call with an unknown outcome outlives its run.
  for (const { runId } of tasks) changing.add(rootOf(runId))
  return roots.filter(({ id }) => !changing.has(id))
}

function createRootLookup(runs: readonly Run[]): (id: RunId) => RunId {
  const parents = new Map(runs.map(({ id, parentRunId }) => [id, parentRunId]))
  return (id) => {
    let at = id
    for (let above = parents.get(at); above; above = parents.get(at)) at = above
    return at
  }
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
  live.lastAt = Math.max(live.lastAt, now)
}

/** Changed items keep their place; new ones come last. */
function mergeById<T extends { readonly id: string }>(all: readonly T[], changed: readonly T[]): readonly T[] {
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
