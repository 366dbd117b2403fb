/**
 * Calls of runs that do the same work in sessions of their own: a run, the run that it repeats or was forked from, and those that
 * repeat it. An unsafe call that one of them may have made is not made by another unasked.
 * Source: docs/design/approvals.md#repeated-calls
 */
import type { SessionId } from '../../base/ids.ts'
import type { RepeatedRun, Run } from '../../spec/run/run.ts'
import type { CallRow, SessionTree } from '../../store/session-update.ts'
import type { SessionStore } from '../../store/session-store.ts'

export interface RelatedCall {
  readonly row: CallRow
  /** True where its run is one that this session repeats; else its run repeats one of this session, or the same one. */
  readonly isRepeated: boolean
}

export interface RelatedCalls {
  readonly calls: readonly RelatedCall[]
  /** False if more runs do the same work than are looked through: any call may then have been made by one of the others. */
  readonly isWhole: boolean
}

/** For a session whose runs no other run repeats. */
export const NO_RELATED_CALLS: RelatedCalls = { calls: [], isWhole: true }

/** Sessions that are looked through. */
const MAX_RELATED = 50

/** The run that a root run repeats or was forked from. */
export const repeatedRunOf = ({ origin }: Run): RepeatedRun | undefined =>
  origin && origin.kind !== 'undo' ? origin : undefined

/** True if another run repeats, or undoes, one of this session that can still call a tool. */
export const isRepeatedSession = async (store: SessionStore, tree: SessionTree): Promise<boolean> => {
  const found = await Promise.all(rootsAtWork(tree).map((run) => runsFrom(store, run, 1)))
  return found.some(({ total }) => total > 0)
}

export async function readRelatedCalls(store: SessionStore, tree: SessionTree): Promise<RelatedCalls> {
  const seen = new Set<SessionId>([tree.session.id])
  const calls: RelatedCall[] = []
  let isWhole = true
  // Grows while it is read.
  const family = rootsAtWork(tree)
  const take = async (run: Run, isRepeated: boolean): Promise<void> => {
    const { sessionId, startedAt } = run
    if (seen.has(sessionId)) return
    if (seen.size > MAX_RELATED) {
      isWhole = false
      return
    }
    seen.add(sessionId)
    family.push(run)
    // A repetition that was forked took over calls from before it began, which are in the run that made them.
    const rows = (await store.calls({ sessionId })).filter((row) => isRepeated || row.at >= startedAt)
    calls.push(...rows.map((row) => ({ row, isRepeated })))
  }
  for (const run of family) {
    const origin = repeatedRunOf(run)
    const earlier = origin && (await store.run(origin.runId))
    if (earlier) await take(earlier, true)
  }
  for (const run of family) {
    const { items, total } = await runsFrom(store, run, MAX_RELATED)
    if (total > items.length) isWhole = false
    for (const later of items) if (repeatedRunOf(later)) await take(later, false)
  }
  return { calls, isWhole }
}

const rootsAtWork = ({ session, runs }: SessionTree): Run[] =>
  runs.filter((run) => run.parentRunId === null && (run.state.at !== 'done' || run.id === session.rootRunId))

/** Runs that repeat or undo this one, newest first. */
const runsFrom = (store: SessionStore, { id, workspaceId }: Run, take: number): ReturnType<SessionStore['runs']> =>
  store.runs({ workspaceId, origin: id, roots: true }, { skip: 0, take })
