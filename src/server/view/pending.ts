/** The tasks and questions that a run waits for, as far as its caller may see them. Source: docs/design/http.md#waiting-and-pending */
import type { PendingAnswer } from '../../spec/api.ts'
import { answerableWhileHidden, pendingOf } from '../../view/pending.ts'
import { isWaiting, type Run } from '../../spec/run/run.ts'
import type { SessionStore } from '../../store/session-store.ts'

/** @param hidden true while the trigger hides its timeline from the caller */
export async function readPending(store: SessionStore, run: Run, hidden: boolean): Promise<readonly PendingAnswer[]> {
  // Queries only for waiting runs: polling a working run costs no query.
  if (!isWaiting(run.status)) return []
  if (hidden) return answerableWhileHidden(pendingOf(run, { runs: [run], tasks: [] }))
  const tasks = await store.pendingTasks(run.sessionId)
  // The first root run has all tasks of its session; of a later one its tree is read only where a task may be of its sub-agents.
  const isFirst = run.parentRunId === null && run.starter === undefined
  const isAlone = isFirst || tasks.every(({ runId }) => runId === run.id)
  const runs = isAlone ? [run] : await store.treesOf(run.sessionId, [run.id])
  return pendingOf(run, { runs, tasks })
}
