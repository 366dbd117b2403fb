import type { RunId } from '../../base/ids.ts'
import type { TaskRecord, TaskStatus, TaskVote } from '../../spec/task.ts'
import type { TaskInSession } from '../queries.ts'
import { endingRange, tailOf } from '../rows/tail.ts'
import { toVote, toVoteKey, type VoteRow } from '../rows/task-rows.ts'
import type { Store } from '../store.ts'
import type { AgentTable } from './agents.ts'
import { listClause, statementCache } from './database/filter.ts'
import { joinClauses } from '../rows/filter.ts'
import type { Database } from 'better-sqlite3'

export interface TaskTable {
  readonly reads: Pick<Store, 'task' | 'tasks' | 'tasksInScope' | 'pendingTasks' | 'tasksOfSession' | 'tasksEndingWith'>
  pendingOf(sessionN: number): readonly TaskRecord[]
  /** @param runNumber returns the row number of a task's run */
  put(sessionN: number, tasks: readonly TaskRecord[], runNumber: (task: TaskRecord) => number): void
}

export function openTasks(db: Database, agents: AgentTable): TaskTable {
  const prepared = statementCache(db)
  const votes = openVotes(db)
  const update = db.prepare<Record<string, unknown>, { n: number }>(
    `update user_task
     set kind = :kind, status = :status, call_id = :callId, expires_at = :expiresAt, body = :body
     where id = :id and session_n = :sessionN
     returning n`,
  )
  const insert = db.prepare<Record<string, unknown>, { n: number }>(
    `insert into user_task (
       id, tail, session_n, scope_agent_n, scope_trigger_id, run_n, kind, status, call_id, expires_at, created_at, body
     )
     select :id, :tail, n, agent_n, trigger_id, :runN, :kind, :status, :callId, :expiresAt, :createdAt, :body
     from session
     where n = :sessionN
     returning n`,
  )
  const one = db.prepare<[string], TaskRow>('select n, body from user_task where id = ?')
  const pending = db.prepare<[number], TaskRow>(
    `select n, body from user_task where session_n = ? and status = 'pending' order by n`,
  )
  const pendingOfSession = db.prepare<[string], TaskRow>(
    `select n, body from user_task
     where session_n = (select n from session where id = ?) and status = 'pending'
     order by n`,
  )
  // One agent, trigger and status at a time: each is a range of the index, read from its end.
  const inScope = db
    .prepare<ScopeValues, number>(
      `select n from user_task
     where scope_agent_n = :agentN and scope_trigger_id is :triggerId and status = :status and n < :before
     order by n desc
     limit :limit`,
    )
    .pluck()
  const inWorkspace = db
    .prepare<[string, string, number, number], number>(
      `select t.n from user_task t cross join agent a on a.n = t.scope_agent_n
     where a.workspace_id = ? and t.status = ? and t.n < ?
     order by t.n desc
     limit ?`,
    )
    .pluck()
  const withRoot = db.prepare<{ n: number }, TaskRow & { root_run_id: RunId }>(
    `with recursive above (id, parent_run_id) as (
       select id, parent_run_id from run where n = (select run_n from user_task where n = :n)
       union all
       select r.id, r.parent_run_id from run r join above on r.id = above.parent_run_id
     )
     select t.n, t.body, (select id from above where parent_run_id is null) as root_run_id
     from user_task t
     where t.n = :n`,
  )
  const ofSession = db.prepare<[string], TaskRow>(
    'select n, body from user_task where session_n = (select n from session where id = ?) order by n',
  )
  const ending = db.prepare<{ workspaceId: string; from: string; to: string; ending: string; limit: number }, TaskRow>(
    `select t.n, t.body ${FROM}
     where t.tail >= :from and t.tail < :to
       and substr(replace(t.id, '-', ''), -length(:ending)) = :ending
       and a.workspace_id = :workspaceId
     order by t.created_at desc, t.n desc
     limit :limit`,
  )
  const toTask = (row: TaskRow): TaskRecord => ({
    ...(JSON.parse(row.body) as Omit<TaskRecord, 'votes'>),
    votes: votes.of(row.n),
  })

  return {
    reads: {
      async task(id) {
        const row = one.get(id)
        return row && toTask(row)
      },
      async tasks(filter, page) {
        const agent = filter.agentId && agents.find(filter.agentId, filter.workspaceId)
        if (filter.agentId && !agent) return { items: [], total: 0 }
        const { where, values } = joinClauses([
          ['a.workspace_id = :workspaceId', filter.workspaceId],
          ['a.n = :agentN', agent?.n],
          [`t.status = 'pending'`, filter.all ? undefined : true],
          ['t.kind in (select value from json_each(:kinds))', listClause(filter.kinds)],
        ])
        // The task that expires first comes first; tasks that never expire follow, decided tasks come last.
        const items = prepared<TaskRow>(
          `select t.n, t.body ${FROM} where ${where}
           order by t.status <> 'pending', t.expires_at nulls last, t.created_at, t.n
           limit :take offset :skip`,
        ).all({ ...values, take: page.take, skip: page.skip })
        const { total } = prepared<{ total: number }>(`select count(*) as total ${FROM} where ${where}`).get(values)!
        return { items: items.map(toTask), total }
      },
      async tasksInScope(
        { workspaceId, own },
        { take, status = STATUSES, before = Number.MAX_SAFE_INTEGER },
        maxBytes,
      ) {
        const limit = take + 1
        const agent = own && agents.find(own.agentId, workspaceId)
        if (own && !agent) return { items: [], next: null }
        const found = status.flatMap((each) =>
          own && agent
            ? [own.triggerId, null].flatMap((triggerId) =>
                inScope.all({ agentN: agent.n, triggerId, status: each, before, limit }),
              )
            : inWorkspace.all(workspaceId, each, before, limit),
        )
        const numbers = [...new Set(found)].sort((a, b) => b - a)
        const items: TaskInSession[] = []
        let left = maxBytes
        let last: number | undefined
        for (const n of numbers) {
          const row = withRoot.get({ n })!
          left -= Buffer.byteLength(row.body)
          if (items.length === take || (items.length > 0 && left < 0)) return { items, next: last! }
          items.push({ task: toTask(row), rootRunId: row.root_run_id })
          last = n
        }
        return { items, next: null }
      },
      async pendingTasks(sessionId) {
        return pendingOfSession.all(sessionId).map(toTask)
      },
      async tasksOfSession(sessionId) {
        return ofSession.all(sessionId).map(toTask)
      },
      async tasksEndingWith(workspaceId, text, limit) {
        return ending.all({ workspaceId, limit, ...endingRange(text) }).map(toTask)
      },
    },
    pendingOf: (sessionN) => pending.all(sessionN).map(toTask),
    put(sessionN, tasks, runNumber) {
      // Changed tasks first: a call may have one pending task, so an ended task must be stored before the next one.
      const added: TaskRecord[] = []
      for (const task of tasks) {
        const known = update.get({ id: task.id, sessionN, ...changingValues(task) })
        if (known) votes.replace(known.n, task.votes)
        else added.push(task)
      }
      for (const task of added) {
        const { n } = insert.get({
          id: task.id,
          tail: tailOf(task.id),
          sessionN,
          runN: runNumber(task),
          createdAt: task.createdAt,
          ...changingValues(task),
        })!
        votes.replace(n, task.votes)
      }
    },
  }
}

const FROM = 'from user_task t cross join run r on r.n = t.run_n cross join agent a on a.n = r.agent_n'

const changingValues = (task: TaskRecord) => ({
  kind: task.kind,
  status: task.status,
  callId: task.callId ?? null,
  expiresAt: task.expiresAt ?? null,
  body: JSON.stringify({ ...task, votes: undefined }),
})

const STATUSES: readonly TaskStatus[] = ['pending', 'completed', 'expired', 'cancelled']

interface ScopeValues {
  readonly agentN: number
  readonly triggerId: string | null
  readonly status: TaskStatus
  readonly before: number
  readonly limit: number
}

interface TaskRow {
  n: number
  body: string
}

/** Votes are rows with a unique constraint, so that an approver counts once even if a writer errs. */
function openVotes(db: Database) {
  const current = db.prepare<[number], VoteRow>(
    'select n, approver, approved, at, comment from vote where task_n = ? and voided = 0 order by n',
  )
  const insert = db.prepare(
    'insert into vote (task_n, approver, approved, at, comment) values (:taskN, :approver, :approved, :at, :comment)',
  )
  const voidOne = db.prepare<[number]>('update vote set voided = 1 where n = ?')
  return {
    of: (taskN: number): readonly TaskVote[] => current.all(taskN).map(toVote),
    /** Makes `votes` the ones that count: voids all others and inserts new ones. */
    replace(taskN: number, votes: readonly TaskVote[]): void {
      const stored = new Set<string>()
      const wanted = new Set(votes.map(toVoteKey))
      for (const row of current.all(taskN)) {
        const key = toVoteKey(toVote(row))
        if (wanted.has(key)) stored.add(key)
        else voidOne.run(row.n)
      }
      for (const vote of votes) {
        if (stored.has(toVoteKey(vote))) continue
        const { approver, approved, at, comment } = vote
        insert.run({ taskN, approver, approved: approved ? 1 : 0, at, comment: comment ?? null })
      }
    },
  }
}
