import type { RunId, SessionId } from '../../base/ids.ts'
import type { TaskRecord, TaskStatus, TaskVote } from '../../spec/task.ts'
import { TASK_COLUMNS, toTask, type TaskRow } from '../nouns/tasks.ts'
import type { TaskInSession } from '../queries.ts'
import { toColumnText } from '../rows/json-column.ts'
import { tailOf } from '../rows/tail.ts'
import type { Store } from '../store.ts'
import type { AgentTable } from './agents.ts'
import type { Database } from 'better-sqlite3'
import { createRowCache } from './database/row-cache.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

export interface TaskTable {
  readonly reads: Pick<Store, 'tasksInScope' | 'pendingTasks'>
  /** @param runNumber returns the row number of a task's run */
  put(sessionN: number, tasks: readonly TaskRecord[], runNumber: (task: TaskRecord) => number): void
}

export function openTasks(
  db: Database,
  agents: AgentTable,
  readPending: (sessionId: SessionId) => readonly TaskRecord[],
): TaskTable {
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
     select ${TASK_COLUMNS.sqlite}, (select id from above where parent_run_id is null) as root_run_id
     from user_task t
     where t.n = :n`,
  )
  /** Pending tasks by session: clients poll runs while nothing changes. */
  const polled = createRowCache<PolledTasks, SessionId>(
    (sessionId) => {
      const tasks = readPending(sessionId)
      return { tasks, length: JSON.stringify(tasks).length }
    },
    ({ length }) => length <= MAX_POLLED_LENGTH,
  )

  return {
    reads: {
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
          const row = withRoot.get({ n })
          if (!row) continue
          left -= Buffer.byteLength(row.body)
          if (last !== undefined && (items.length === take || left < 0)) return { items, next: last }
          items.push({ task: toTask(row), rootRunId: row.root_run_id })
          last = n
        }
        return { items, next: null }
      },
      async pendingTasks(sessionId) {
        return expectDefined(polled.get(sessionId), 'a list is read for every session').tasks
      },
    },
    put(sessionN, tasks, runNumber) {
      // Changed tasks first: a call may have one pending task, so an ended task must be stored before the next one.
      const added: TaskRecord[] = []
      for (const task of tasks) {
        polled.clear(task.sessionId)
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

const changingValues = (task: TaskRecord) => ({
  kind: task.kind,
  status: task.status,
  callId: task.callId ?? null,
  expiresAt: task.expiresAt ?? null,
  body: toColumnText({ ...task, votes: undefined }),
})

const STATUSES: readonly TaskStatus[] = ['pending', 'completed', 'expired', 'cancelled']

interface ScopeValues {
  readonly agentN: number
  readonly triggerId: string | null
  readonly status: TaskStatus
  readonly before: number
  readonly limit: number
}

/** Longer tasks are read each time, so that those that are kept take at most some 16 MiB. */
const MAX_POLLED_LENGTH = 16 * 1024

interface PolledTasks {
  readonly tasks: readonly TaskRecord[]
  readonly length: number
}

/** Votes are rows with a unique constraint, so that an approver counts once even if a writer errs. */
function openVotes(db: Database) {
  const current = db.prepare<[number], VoteRow>(
    'select n, approver, approved, at, comment from vote where task_n = ? and voided = 0',
  )
  const insert = db.prepare(
    'insert into vote (task_n, approver, approved, at, comment) values (:taskN, :approver, :approved, :at, :comment)',
  )
  const voidOne = db.prepare<[number]>('update vote set voided = 1 where n = ?')
  return {
    /** Makes `votes` the ones that count: voids all others and inserts new ones. */
    replace(taskN: number, votes: readonly TaskVote[]): void {
      const stored = new Set<string>()
      const wanted = new Set(votes.map(toVoteKey))
      for (const row of current.all(taskN)) {
        const key = toVoteKey(toVote([row.approver, row.approved, row.at, row.comment]))
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

const toVoteKey = ({ approver, approved, at, comment }: TaskVote): string =>
  toColumnText([approver, approved, at, comment ?? null])

interface VoteRow {
  n: number
  approver: string
  approved: number
  at: number
  comment: string | null
}

type VoteColumns = readonly [approver: string, approved: number, at: number, comment: string | null]

const toVote = ([approver, approved, at, comment]: VoteColumns): TaskVote => ({
  approver,
  approved: approved === 1,
  at,
  ...(comment !== null && { comment }),
})
