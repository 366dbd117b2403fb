/** Tasks of people, with the votes that count. */
import type { TaskRecord, TaskVote } from '../../spec/task.ts'
import type { Dialect } from '../dialect.ts'
import type { OpenTasks } from '../queries.ts'
import { joinClauses } from '../rows/filter.ts'
import { endingRange } from '../rows/tail.ts'
import { readRow, readRows, type DatabaseWork, type NounWork, type StatementValues, readOneRow } from '../statement.ts'

/** Columns of a task `t`: its votes as one text, so that a run that waits is polled in one read. */
export const TASK_COLUMNS: Readonly<Record<Dialect['name'], string>> = {
  sqlite: `t.body, (
    select json_group_array(json_array(v.approver, v.approved, v.at, v.comment) order by v.n)
    from vote v
    where v.task_n = t.n and v.voided = 0
  ) as votes`,
  postgres: `t.body, (
    select coalesce(json_agg(json_build_array(v.approver, v.approved, v.at, v.comment) order by v.n), '[]')::text
    from vote v
    where v.task_id = t.id and not v.voided
  ) as votes`,
}

export interface TaskRow {
  readonly body: string
  readonly votes: string
}

type VoteColumns = readonly [approver: string, approved: boolean | 0 | 1, at: number, comment: string | null]

/** Completes the parsed value in place: a copy of its many fields would take as long as parsing them. */
export const toTask = ({ body, votes }: TaskRow): TaskRecord =>
  Object.assign(JSON.parse(body) as Omit<TaskRecord, 'votes'>, {
    votes: votes === '[]' ? [] : (JSON.parse(votes) as VoteColumns[]).map(toVote),
  })

const toVote = ([approver, approved, at, comment]: VoteColumns): TaskVote => ({
  approver,
  approved: Boolean(approved),
  at,
  ...(comment !== null && { comment }),
})

/** Tasks, and the workspace and agent of their runs. */
const OF_OWNER = {
  sqlite: {
    from: 'from user_task t cross join run r on r.n = t.run_n cross join agent a on a.n = r.agent_n',
    workspace: 'a.workspace_id',
    agent: 'a.id',
  },
  postgres: { from: 'from user_task t', workspace: 't.workspace_id', agent: 't.agent_id' },
}

type TaskReads = 'task' | 'tasks' | 'openTasks' | 'pendingTasks' | 'tasksOfSession' | 'tasksEndingWith'

export function prepareTasks(dialect: Dialect): NounWork<TaskReads, never> {
  const { column, find, isOneOf, ending } = dialect
  const { from, workspace, agent } = OF_OWNER[dialect.name]
  const select = `select ${TASK_COLUMNS[dialect.name]}`
  const inSession = `t.${column('session')} = ${find('session', 'sessionId')}`
  const one = `${select} from user_task t where t.id = :id`
  const pending = `${select} from user_task t where ${inSession} and t.status = 'pending' order by t.n`
  const open = `select t.kind, count(*) as count, min(t.created_at) as oldest ${from}
    where ${workspace} = :workspaceId and t.status = 'pending' group by t.kind order by t.kind`
  const ofSession = `${select} from user_task t where ${inSession} order by t.n`
  const endingWith = `${select} ${from}
    where t.tail >= :from and t.tail < :to and ${ending('t.id')} = :ending and ${workspace} = :workspaceId
    order by t.created_at desc, t.n desc
    limit :limit`

  function* readTasks(sql: string, values: StatementValues): DatabaseWork<readonly TaskRecord[]> {
    return (yield* readRows<TaskRow>(sql, values)).map(toTask)
  }

  return {
    reads: {
      *task(id) {
        const row = yield* readRow<TaskRow>(one, { id })
        return row && toTask(row)
      },
      *tasks(filter, { skip, take }) {
        const { where, values } = joinClauses([
          [`${workspace} = :workspaceId`, filter.workspaceId],
          [`${agent} = :agentId`, filter.agentId],
          [`t.status = 'pending'`, filter.all ? undefined : true],
          [isOneOf('t.kind', 'kinds'), filter.kinds],
        ])
        // The task that expires first comes first; tasks that never expire follow, decided tasks come last.
        const items = yield* readTasks(
          `${select} ${from} where ${where}
           order by t.status <> 'pending', t.expires_at nulls last, t.created_at, t.n
           limit :take offset :skip`,
          { ...values, take, skip },
        )
        const counted = yield* readOneRow<{ total: number }>(`select count(*) as total ${from} where ${where}`, values)
        return { items, total: counted.total }
      },
      openTasks: (workspaceId) => readRows<OpenTasks>(open, { workspaceId }),
      pendingTasks: (sessionId) => readTasks(pending, { sessionId }),
      tasksOfSession: (sessionId) => readTasks(ofSession, { sessionId }),
      tasksEndingWith: (workspaceId, text, limit) =>
        readTasks(endingWith, { workspaceId, limit, ...endingRange(text) }),
    },
    writes: {},
    transactions: {},
  }
}
