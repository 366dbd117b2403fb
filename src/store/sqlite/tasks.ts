import type { Database } from 'better-sqlite3'
import type { TaskRecord, TaskVote } from '../../spec/task.ts'
import type { Store } from '../store.ts'
import type { AgentTable } from './agents.ts'
import { joinClauses, listClause, statementCache } from './database/filter.ts'
import { endingRange, tailOf } from './database/tail.ts'

export interface TaskTable {
  readonly reads: Pick<Store, 'task' | 'tasks' | 'tasksOfSession' | 'tasksEndingWith'>
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

const toVoteKey = ({ approver, approved, at, comment }: TaskVote): string =>
  JSON.stringify([approver, approved, at, comment ?? null])

interface VoteRow {
  n: number
  approver: string
  approved: number
  at: number
  comment: string | null
}

const toVote = (row: VoteRow): TaskVote => ({
  approver: row.approver,
  approved: row.approved === 1,
  at: row.at,
  ...(row.comment === null ? {} : { comment: row.comment }),
})
