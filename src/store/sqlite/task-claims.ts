import type { WorkspaceId } from '../../base/ids.ts'
import type { TaskClaim } from '../../spec/task.ts'
import type { Store } from '../store.ts'
import type { Database } from 'better-sqlite3'

export interface TaskClaimTable {
  readonly reads: Pick<Store, 'taskClaims'>
  put(claim: TaskClaim): void
  end(...of: Parameters<Store['endTaskClaim']>): void
}

export function openTaskClaims(db: Database): TaskClaimTable {
  const ofWorkspace = db.prepare<{ workspaceId: WorkspaceId; now: number }, TaskClaim>(
    `select workspace_id as workspaceId, task_id as taskId, operator, at, until
     from task_claim
     where workspace_id = :workspaceId and until > :now
     order by at, operator`,
  )
  const put = db.prepare(
    `insert into task_claim (task_id, workspace_id, operator, at, until)
     values (:taskId, :workspaceId, :operator, :at, :until)
     on conflict (task_id, operator) do update set until = excluded.until`,
  )
  const end = db.prepare<[string, string]>('delete from task_claim where task_id = ? and operator = ?')
  const forget = db.prepare<[string, number]>('delete from task_claim where workspace_id = ? and until <= ?')
  return {
    reads: {
      async taskClaims(workspaceId, now) {
        return ofWorkspace.all({ workspaceId, now })
      },
    },
    put(claim) {
      forget.run(claim.workspaceId, claim.at)
      put.run({ ...claim })
    },
    end: ({ id }, operator) => void end.run(id, operator),
  }
}
