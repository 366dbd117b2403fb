import type { TaskClaim } from '../../spec/task.ts'
import type { Store } from '../store.ts'
import type { SessionHints } from './database/hints.ts'
import type { PostgresPool } from './database/pool.ts'

/** @param hints tells other processes, which show the claim too */
export const taskClaimMethods = (
  db: PostgresPool,
  hints: SessionHints,
): Pick<Store, 'taskClaims' | 'putTaskClaim' | 'endTaskClaim'> => ({
  taskClaims: (workspaceId, now) =>
    db.rows<TaskClaim>(
      `select workspace_id as "workspaceId", task_id as "taskId", operator, at, until
       from task_claim
       where workspace_id = :workspaceId and until > :now
       order by at, operator`,
      { workspaceId, now },
    ),
  async putTaskClaim(claim, { sessionId }) {
    await db.run(
      `with forgotten as (delete from task_claim where workspace_id = :workspaceId and until <= :at)
       insert into task_claim (task_id, workspace_id, operator, at, until)
       values (:taskId, :workspaceId, :operator, :at, :until)
       on conflict (task_id, operator) do update set until = excluded.until`,
      { ...claim },
    )
    hints.changed([sessionId])
  },
  async endTaskClaim({ id, sessionId }, operator) {
    await db.run('delete from task_claim where task_id = :id and operator = :operator', { id, operator })
    hints.changed([sessionId])
  },
})
