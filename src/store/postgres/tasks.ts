import type { RunId, SessionId } from '../../base/ids.ts'
import type { TaskRecord, TaskStatus, TaskVote } from '../../spec/task.ts'
import type { TaskInSession } from '../queries.ts'
import { joinClauses } from '../rows/filter.ts'
import { toColumnText } from '../rows/json-column.ts'
import { endingRange, tailOf } from '../rows/tail.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'
import type { PostgresQueries } from './database/queries.ts'

type TaskReads = Pick<Store, 'task' | 'tasks' | 'tasksInScope' | 'pendingTasks' | 'tasksOfSession' | 'tasksEndingWith'>

export const taskReads = (db: PostgresPool): TaskReads => ({
  async task(id) {
    const [row] = await db.rows<TaskRow>(`${SELECT} where t.id = :id`, { id })
    return row && (await withVotes(db, [row]))[0]
  },
  async tasks(filter, { skip, take }) {
    const { where, values } = joinClauses([
      ['t.workspace_id = :workspaceId', filter.workspaceId],
      ['t.agent_id = :agentId', filter.agentId],
      [`t.status = 'pending'`, filter.all ? undefined : true],
      ['t.kind = any (:kinds)', filter.kinds],
    ])
    // The task that expires first comes first; tasks that never expire follow, decided tasks come last.
    const rows = await db.rows<TaskRow>(
      `${SELECT} where ${where}
       order by t.status <> 'pending', t.expires_at nulls last, t.created_at, t.n
       limit :take offset :skip`,
      { ...values, take, skip },
    )
    const counted = await db.row<{ total: number }>(`select count(*) as total from user_task t where ${where}`, values)
    return { items: await withVotes(db, rows), total: counted!.total }
  },
  async tasksInScope({ workspaceId, own }, { take, status = STATUSES, before = Number.MAX_SAFE_INTEGER }, maxBytes) {
    const rows = await db.rows<TaskRow & { root_run_id: RunId }>(
      // One range of the index for each status, and for each scope, read from its end.
      `select t.n, t.id, t.body, t.root_run_id
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
    const tasks = await withVotes(db, page)
    const items = page.map((row, index): TaskInSession => ({ task: tasks[index]!, rootRunId: row.root_run_id }))
    return { items, next: page.length < rows.length ? page.at(-1)!.n : null }
  },
  pendingTasks: (sessionId) => readPendingTasks(db, sessionId),
  async tasksOfSession(sessionId) {
    return withVotes(
      db,
      await db.rows<TaskRow>(`${SELECT} where t.session_id = :sessionId order by t.n`, { sessionId }),
    )
  },
  async tasksEndingWith(workspaceId, text, limit) {
    const rows = await db.rows<TaskRow>(
      `${SELECT}
       where t.tail >= :from and t.tail < :to
         and right(replace(t.id, '-', ''), length(:ending)) = :ending
         and t.workspace_id = :workspaceId
       order by t.created_at desc, t.n desc
       limit :limit`,
      { workspaceId, limit, ...endingRange(text) },
    )
    return withVotes(db, rows)
  },
})

/** The pending tasks of a session in the order in which they were stored. */
export const readPendingTasks = async (on: PostgresQueries, sessionId: SessionId): Promise<readonly TaskRecord[]> =>
  withVotes(
    on,
    await on.rows<TaskRow>(`${SELECT} where t.session_id = :sessionId and t.status = 'pending' order by t.n`, {
      sessionId,
    }),
  )

interface TaskRow {
  n: number
  id: string
  body: string
}

const SELECT = 'select t.n, t.id, t.body from user_task t'

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

/** The votes `v` of a task that count. */
export const COUNTED_VOTES = `json_agg(json_strip_nulls(json_build_object(
    'approver', v.approver, 'approved', v.approved, 'at', v.at, 'comment', v.comment
  )) order by v.n)`

async function withVotes(on: PostgresQueries, rows: readonly TaskRow[]): Promise<readonly TaskRecord[]> {
  if (rows.length === 0) return []
  const votes = await on.rows<{ task_id: string; votes: readonly TaskVote[] }>(
    `select v.task_id, ${COUNTED_VOTES} as votes from vote v where v.task_id = any (:ids) and not v.voided group by v.task_id`,
    { ids: rows.map(({ id }) => id) },
  )
  const ofTask = new Map(votes.map((each) => [each.task_id, each.votes]))
  return rows.map(({ id, body }) => ({
    ...(JSON.parse(body) as Omit<TaskRecord, 'votes'>),
    votes: ofTask.get(id) ?? [],
  }))
}

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
