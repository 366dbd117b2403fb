import type { RunId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import type { SessionStore } from '../../store/session-store.ts'

/** The root run above a run, or the run itself. A session may have several root runs. */
export async function rootAbove(store: SessionStore, run: Run): Promise<RunId> {
  if (run.parentRunId === null) return run.id
  const parents = new Map(
    (await store.treesOf(run.sessionId, [run.id])).map(({ id, parentRunId }) => [id, parentRunId]),
  )
  let root = run.id
  for (let at: RunId | null = run.id; at !== null; at = parents.get(at) ?? null) root = at
  return root
}
