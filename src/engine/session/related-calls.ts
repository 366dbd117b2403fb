/**
 * Calls of runs that do the same work in sessions of their own: a run, the run that it repeats or was forked from, and those that
 * repeat it. An unsafe call that one of them may have made is not made by another unasked.
 * Source: reliability, "Duplicate guard"; decisions, section 18.
 */
import type { SessionId } from '../../base/ids.ts'
import type { RepeatedRun, Run } from '../../spec/run.ts'
import type { CallRow, SessionTree } from '../../store/session-update.ts'
import type { Store } from '../../store/store.ts'

export interface RelatedCall {
  readonly row: CallRow
  /** True where its run is one that this session repeats; else its run repeats one of this session, or the same one. */
  readonly isRepeated: boolean
}

/** Sessions that are looked through. */
const MAX_RELATED = 50

/** The run that a root run repeats or was forked from. */
export const repeatedRunOf = ({ origin }: Run): RepeatedRun | undefined =>
  origin && origin.kind !== 'undo' ? origin : undefined

/** True where another run repeats one of this session that can still call a tool. */
export const isRepeatedSession = async (store: Store, tree: SessionTree): Promise<boolean> => {
  const found = await Promise.all(rootsAtWork(tree).map((run) => repetitionsOf(store, run, 1)))
  return found.some(({ length }) => length > 0)
}

export async function readRelatedCalls(store: Store, tree: SessionTree): Promise<readonly RelatedCall[]> {
  const seen = new Set<SessionId>([tree.session.id])
  const related: RelatedCall[] = []
  const family = rootsAtWork(tree)
  const take = async ({ sessionId, startedAt }: Run, isRepeated: boolean): Promise<void> => {
    seen.add(sessionId)
    // A repetition that was forked took over calls from before it began, which are in the run that made them.
    const rows = (await store.calls({ sessionId })).filter((row) => isRepeated || row.at >= startedAt)
    related.push(...rows.map((row) => ({ row, isRepeated })))
  }
  for (let at = 0; at < family.length && seen.size <= MAX_RELATED; at++) {
    const origin = repeatedRunOf(family[at]!)
    const earlier = origin && !seen.has(origin.sessionId) ? await store.run(origin.runId) : undefined
    if (!earlier) continue
    await take(earlier, true)
    family.push(earlier)
  }
  for (let at = 0; at < family.length && seen.size <= MAX_RELATED; at++)
    for (const later of await repetitionsOf(store, family[at]!, MAX_RELATED)) {
      if (seen.has(later.sessionId)) continue
      await take(later, false)
      family.push(later)
    }
  return related
}

const rootsAtWork = ({ session, runs }: SessionTree): Run[] =>
  runs.filter((run) => run.parentRunId === null && (run.state.at !== 'done' || run.id === session.rootRunId))

async function repetitionsOf(store: Store, { id, workspaceId }: Run, take: number): Promise<readonly Run[]> {
  const { items } = await store.runs({ workspaceId, origin: id, roots: true }, { skip: 0, take })
  return items.filter((run) => repeatedRunOf(run) !== undefined)
}
