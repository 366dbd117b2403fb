import type { RunId } from '../../base/ids.ts'
import type { TaskRecord, TaskStatus } from '../../spec/task.ts'
import type { TaskInSession } from '../queries.ts'
import { toColumnText } from '../rows/json-column.ts'
import { endingRange, tailOf } from '../rows/tail.ts'
import type { Store } from '../store.ts'
import type { AgentTable } from './agents.ts'
import { listClause, statementCache } from './database/filter.ts'
import { joinClauses } from '../rows/filter.ts'
import type { Database } from 'better-sqlite3'
import { createRowCache } from './database/row-cache.ts'
import { openVotes, parseVotes, VOTES } from './votes.ts'

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
  const one = db.prepare<[string], TaskRow>(`select ${TASK} from user_task t where t.id = ?`)
  const pending = db.prepare<[number], TaskRow>(
    `select ${TASK} from user_task t where t.session_n = ? and t.status = 'pending' order by t.n`,
  )
  const pendingOfSession = db.prepare<[string], TaskRow>(
    `select ${TASK} from user_task t
     where t.session_n = (select n from session where id = ?) and t.status = 'pending'
     order by t.n`,
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
     select ${TASK}, (select id from above where parent_run_id is null) as root_run_id
     from user_task t
     where t.n = :n`,
  )
  const ofSession = db.prepare<[string], TaskRow>(
    `select ${TASK} from user_task t where t.session_n = (select n from session where id = ?) order by t.n`,
  )
  const ending = db.prepare<{ workspaceId: string; from: string; to: string; ending: string; limit: number }, TaskRow>(
    `select ${TASK} ${FROM}
     where t.tail >= :from and t.tail < :to
       and substr(replace(t.id, '-', ''), -length(:ending)) = :ending
       and a.workspace_id = :workspaceId
     order by t.created_at desc, t.n desc
     limit :limit`,
  )
  /** Pending tasks by session: clients poll runs while nothing changes. */
  const polled = createRowCache<PolledTasks>(
    (sessionId) => {
      const rows = pendingOfSession.all(sessionId)
      return { tasks: rows.map(toTask), length: rows.reduce((sum, { body }) => sum + body.length, 0) }
    },
    ({ length }) => length <= MAX_POLLED_LENGTH,
  )

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
          `select ${TASK} ${FROM} where ${where}
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
        return polled.get(sessionId)!.tasks
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

const FROM = 'from user_task t cross join run r on r.n = t.run_n cross join agent a on a.n = r.agent_n'

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

/** A task with the votes that count, in one read: a run that waits is polled again and again. */
const TASK = `t.body, ${VOTES} as votes`

/** Longer tasks are read each time, so that those that are kept take at most some 16 MiB. */
const MAX_POLLED_LENGTH = 16 * 1024

interface PolledTasks {
  readonly tasks: readonly TaskRecord[]
  readonly length: number
}

interface TaskRow {
  body: string
  votes: string
}

/** Completes the parsed value in place: a copy of its many fields would take as long as parsing them. */
const toTask = ({ body, votes }: TaskRow): TaskRecord =>
  Object.assign(JSON.parse(body) as Omit<TaskRecord, 'votes'>, {
    votes: parseVotes(votes),
  })
