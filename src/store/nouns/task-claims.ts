/** People who are looking at a task. */
import type { TaskClaim } from '../../spec/task.ts'
import { readRows, writeRows, type NounWork } from '../statement.ts'
import { defineTable } from './record-table.ts'

export const TASK_CLAIMS = defineTable<TaskClaim>('task_claim', {
  taskId: 'uuid',
  workspaceId: 'text',
  operator: 'text',
  at: 'integer',
  until: 'integer',
})

export function prepareTaskClaims(): NounWork<'taskClaims', 'putTaskClaim' | 'endTaskClaim'> {
  const { select, insert, toValues, toRecord } = TASK_CLAIMS
  const ofWorkspace = `${select} where workspace_id = :workspaceId and until > :now order by at, operator`
  const put = `${insert} on conflict (task_id, operator) do update set until = excluded.until`
  return {
    reads: {
      *taskClaims(workspaceId, now) {
        return (yield* readRows(ofWorkspace, { workspaceId, now })).map(toRecord)
      },
    },
    writes: {
      *putTaskClaim(claim) {
        yield* writeRows('delete from task_claim where workspace_id = :workspaceId and until <= :at', {
          workspaceId: claim.workspaceId,
          at: claim.at,
        })
        yield* writeRows(put, toValues(claim))
      },
      *endTaskClaim({ id }, operator) {
        yield* writeRows('delete from task_claim where task_id = :id and operator = :operator', { id, operator })
      },
    },
    transactions: {},
  }
}
