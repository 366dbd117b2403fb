/**
 * Reads a session: the runs that may still change with all their steps and calls, and of the root runs before them what was said, as
 * far back as a prompt may reach. So the ten thousandth run of a session reads no more than the hundredth.
 */
import type { Instant } from '../../base/clock.ts'
import type { RunId, SessionId } from '../../base/ids.ts'
import { estimateTokens } from '../../providers/tokens.ts'
import type { Run } from '../../spec/run/run.ts'
import type { RunStep } from '../../spec/step.ts'
import type { CallRow, SessionTree } from '../../store/session-update.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { callKey } from '../session/keys.ts'
import { addStep, createLive, type LiveSession } from '../session/live-session.ts'
import { countGiven, messagesOfRun } from '../prompt/earlier.ts'
import { isRepeatedSession } from '../session/related-calls.ts'
import type { VersionLookup } from '../session/versions.ts'

export async function loadLive(
  store: SessionStore,
  id: SessionId,
  versionsOf: (tree: SessionTree) => VersionLookup,
): Promise<LiveSession | undefined> {
  const stored = await store.load(id)
  if (!stored) return undefined
  const { heldBy, ...tree } = stored
  const newest = await store.stepsSince(id, tree.session.rootRunId)
  const [older, calls, said, heldSince, isRepeated] = await Promise.all([
    readSteps(store, olderTrees(tree)),
    store.calls({ sessionId: id, runIds: tree.runs.map((run) => run.id) }),
    readGiven(store, tree, newest),
    store.restoredAt(id),
    isRepeatedSession(store, tree),
  ])
  const known = new Set(older.map((step) => step.id))
  const runs = new Set<RunId>(tree.runs.map((run) => run.id))
  const steps = [...older, ...newest.filter((step) => runs.has(step.runId) && !known.has(step.id))]
  const inOrder = steps.sort((a, b) => a.ordinal - b.ordinal)
  const live = createLive(tree, inOrder, calls, versionsOf(tree), { heldSince, heldBy, isRepeated, said })
  for (const { startedAt, finishedAt } of newest) live.lastAt = Math.max(live.lastAt, startedAt, finishedAt ?? 0)
  return live
}

/** The runs of a tree that do not belong to its newest root run. */
function olderTrees({ session, runs }: SessionTree): readonly Run[] {
  const parents = new Map(runs.map(({ id, parentRunId }) => [id, parentRunId]))
  const rootOf = (id: RunId): RunId => {
    let at = id
    for (let above = parents.get(at); above; above = parents.get(at)) at = above
    return at
  }
  return runs.filter(({ id }) => rootOf(id) !== session.rootRunId)
}

const readSteps = async (store: SessionStore, runs: readonly Run[]): Promise<readonly RunStep[]> =>
  (await Promise.all(runs.map(({ id }) => store.stepsOfRun(id)))).flat()

/** Steps of what was said that are read at once. */
const PAGE = 100

/** How far back a prompt may reach. */
export interface EarlierBounds {
  readonly messages: number
  readonly tokens: number
}

/** What was said before an ordinal, at least as far back as the bounds; an erased session has no messages. */
export async function readSaid(
  store: SessionStore,
  { session }: Pick<SessionTree, 'session'>,
  before: number,
  { messages, tokens }: EarlierBounds,
): Promise<readonly RunStep[]> {
  if (session.erasedAt !== undefined) return []
  const pages: (readonly RunStep[])[] = []
  let [count, used, next] = [0, 0, before]
  while (count < messages && used <= tokens) {
    const page = await store.saidBefore(session.id, next, PAGE)
    const [oldest] = page
    if (!oldest) break
    pages.unshift(page)
    next = oldest.ordinal
    for (const { text } of messagesOfRun(page)) {
      count++
      used += estimateTokens(text.length)
    }
  }
  return pages.flat()
}

/** What was said before the newest root run, as far back as its first step says that it is given. */
function readGiven(store: SessionStore, tree: SessionTree, newest: readonly RunStep[]): Promise<readonly RunStep[]> {
  const steps = newest.filter(({ runId }) => runId === tree.session.rootRunId)
  return readSaid(store, tree, steps[0]?.ordinal ?? 0, { messages: countGiven(steps), tokens: Infinity })
}

/** Adds runs that are not at work to a session in memory, each with its whole tree: a request concerns them. */
export async function addTrees(store: SessionStore, live: LiveSession, ids: readonly RunId[]): Promise<void> {
  const { session, runs } = live.tree
  const known = new Set<RunId>(runs.map(({ id }) => id))
  const wanted = ids.filter((id) => !known.has(id))
  if (wanted.length === 0) return
  const added = (await store.treesOf(session.id, wanted)).filter(({ id }) => !known.has(id))
  if (added.length === 0) return
  const [steps, calls] = await Promise.all([
    readSteps(store, added),
    store.calls({ sessionId: session.id, runIds: added.map(({ id }) => id) }),
  ])
  // Older runs first, as they were stored.
  live.tree = { ...live.tree, runs: [...added, ...runs] }
  for (const step of steps) addStep(live, step)
  addCalls(live, calls)
}

/** Reads all calls of a session since an instant, unless that was done: a policy counts them. */
export async function addCallsSince(store: SessionStore, live: LiveSession, since: Instant): Promise<void> {
  if (live.callsSince <= since) return
  addCalls(live, await store.calls({ sessionId: live.tree.session.id, ...(since > 0 && { since }) }))
  live.callsSince = since
}

function addCalls(live: LiveSession, rows: readonly CallRow[]): void {
  for (const row of rows) {
    const key = callKey(row.runId, row.callId)
    if (!live.calls.has(key)) live.calls.set(key, row)
  }
}
