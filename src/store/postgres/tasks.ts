import type { RunId, SessionId } from '../../base/ids.ts'
import type { TaskRecord, TaskStatus } from '../../spec/task.ts'
import { TASK_COLUMNS, toTask, type TaskRow } from '../nouns/tasks.ts'
import type { TaskInSession } from '../queries.ts'
import { toColumnText } from '../rows/json-column.ts'
import { tailOf } from '../rows/tail.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const taskReads = (db: PostgresPool): Pick<Store, 'tasksInScope'> => ({
  async tasksInScope({ workspaceId, own }, { take, status = STATUSES, before = Number.MAX_SAFE_INTEGER }, maxBytes) {
    const rows = await db.rows<TaskRow & { n: number; root_run_id: RunId }>(
      // One range of the index for each status, and for each scope, read from its end.
      `select t.n, t.root_run_id, ${TASK_COLUMNS.postgres}
       from (
         select distinct on (found.n) found.*,
           (with recursive above (id, parent_run_id) as (
              select r.id, r.parent_run_id from run r where r.id = found.run_id
              union all
              select r.id, r.parent_run_id from run r join above on r.id = above.parent_run_id
            )
            select id from above where parent_run_id is null) as root_run_id
         from unnest(:status::text[]) as wanted (status)
           cross join lateral (${own ? OF_AGENT : OF_WORKSPACE}) found
       ) t
       order by t.n desc
       limit :limit`,
      {
        workspaceId,
        status,
        before,
        limit: take + 1,
        ...(own && { agentId: own.agentId, triggerId: own.triggerId }),
      },
    )
    let left = maxBytes
    const page: typeof rows = []
    for (const row of rows) {
      left -= Buffer.byteLength(row.body)
      if (page.length === take || (page.length > 0 && left < 0)) break
      page.push(row)
    }
    const items = page.map((row): TaskInSession => ({ task: toTask(row), rootRunId: row.root_run_id }))
    return { items, next: page.length < rows.length ? (page.at(-1)?.n ?? null) : null }
  },
})

const OF_AGENT = `
  select * from (
    (select * from user_task u
     where u.scope_agent_id = :agentId and u.workspace_id = :workspaceId and u.scope_trigger_id = :triggerId
       and u.status = wanted.status and u.n < :before
     order by u.n desc limit :limit)
    union all
    (select * from user_task u
     where u.scope_agent_id = :agentId and u.workspace_id = :workspaceId and u.scope_trigger_id is null
       and u.status = wanted.status and u.n < :before
     order by u.n desc limit :limit)
  ) both_scopes`

const OF_WORKSPACE = `
  select * from user_task u
  where u.workspace_id = :workspaceId and u.status = wanted.status and u.n < :before
  order by u.n desc limit :limit`

const STATUSES: readonly TaskStatus[] = ['pending', 'completed', 'expired', 'cancelled']

export const toTaskColumns = (sessionId: SessionId, task: TaskRecord) => ({
  id: task.id,
  tail: tailOf(task.id),
  session_id: sessionId,
  run_id: task.runId,
  kind: task.kind,
  status: task.status,
  call_id: task.callId ?? null,
  expires_at: task.expiresAt ?? null,
  created_at: task.createdAt,
  body: toColumnText({ ...task, votes: undefined }),
})

export const toVoteColumns = (task: TaskRecord) =>
  task.votes.map(({ approver, approved, at, comment }) => ({
    task_id: task.id,
    approver,
    approved,
    at,
    comment: comment ?? null,
  }))
