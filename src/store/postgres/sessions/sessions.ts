import type { WorkerId } from '../../lease.ts'
import { POSTGRES } from '../../dialect.ts'
import { sessionColumns } from '../../nouns/sessions.ts'
import { treesAbove } from '../../nouns/runs.ts'
import { TASK_COLUMNS, toTask, type TaskRow } from '../../nouns/tasks.ts'
import { toRun, type RunRow } from '../../rows/run-rows.ts'
import { toSession, type SessionRow } from '../../rows/session-rows.ts'
import type { Store } from '../../store.ts'
import type { DatabaseMoment } from '../database/moment.ts'
import type { PostgresPool } from '../database/pool.ts'
import { listSessions } from './session-lists.ts'

type SessionReads = Pick<Store, 'load' | 'sessions'>

export const sessionReads = (db: PostgresPool, moment: DatabaseMoment): SessionReads => ({
  async load(id) {
    const row = await db.row<TreeRow>(LOAD, { id, given: moment.now() })
    return (
      row && {
        session: toSession(row),
        runs: row.runs.map((run) => toRun(run)),
        tasks: row.tasks.map(toTask),
        ...(row.held_by !== null && { heldBy: row.held_by }),
      }
    )
  },
  sessions: (filter, page) => listSessions(db, filter, page),
})

interface TreeRow extends SessionRow {
  held_by: WorkerId | null
  runs: readonly RunRow[]
  tasks: readonly TaskRow[]
}

/** See `Store.load`. */
const CHANGING = `
  select id, parent_run_id from run where id = s.root_run_id
  union
  select id, parent_run_id from run where session_id = s.id and (finished_at is null or origin is not null)
  union
  select r.id, r.parent_run_id
  from user_task t join run r on r.id = t.run_id
  where t.session_id = s.id and t.status = 'pending'`

// One statement, and so one moment: a session is never read with runs of another version.
const LOAD = `
  select ${sessionColumns(POSTGRES).fields}, s.input, s.output,
    case when s.owner is not null and s.lease_until > svc_now(:given) then s.owner end as held_by,
    coalesce((
      with recursive ${treesAbove(CHANGING)}
      select json_agg(json_build_object(
          'id', r.id, 'session_id', r.session_id, 'workspace_id', r.workspace_id, 'agent_id', r.agent_id,
          'agent_name', r.agent_name, 'version_id', r.version_id, 'version_label', r.version_label, 'llm_model', r.llm_model,
          'parent_run_id', r.parent_run_id, 'parent_call_id', r.parent_call_id, 'depth', r.depth,
          'input', case when r.id = s.root_run_id then s.input else r.input end, 'starter', r.starter, 'origin', r.origin, 'state', r.state,
          'status', r.status, 'usage', r.usage, 'last_sequence', r.last_sequence, 'output', r.output, 'error', r.error,
          'error_code', r.error_code, 'started_at', r.started_at, 'finished_at', r.finished_at
        ) order by r.n)
      from run r where r.id in (select id from tree)
    ), '[]') as runs,
    coalesce((
      select json_agg(to_json(p) order by p.n)
      from (
        select t.n, ${TASK_COLUMNS.postgres} from user_task t where t.session_id = s.id and t.status = 'pending'
      ) p
    ), '[]') as tasks
  from session s
  where s.id = :id`
