import type { StepMark, RunCount } from '../queries.ts'
import { HOUR_MS, MARKED_STEPS, MOST_COUNTED_RUNS, MOST_MARKED_SESSIONS } from '../rows/activity-rows.ts'
import type { Store } from '../store.ts'
import type { Database } from 'better-sqlite3'

/** What happened lately, for an overview. */
export function openActivity(db: Database): Pick<Store, 'runCounts' | 'stepMarks'> {
  const counts = db.prepare<Record<string, unknown>, RunCount>(
    `select (started_at - :since) / ${HOUR_MS} as hour, status, error_code as errorCode, count(*) as runs
     from (
       select started_at, status, error_code from run
       where started_at >= :since
         and parent_run_id is null
         and agent_n in (select n from agent where workspace_id = :workspaceId)
       order by started_at desc
       limit ${MOST_COUNTED_RUNS}
     )
     group by 1, 2, 3
     order by 1, 2, 3`,
  )
  const marks = db.prepare<Record<string, unknown>, Omit<StepMark, 'isFailed'> & { isFailed: number }>(
    `select p.type,
       case p.type
         when 'ToolCall' then json_extract(p.content, '$.ref')
         when 'Reasoning' then json_extract(p.content, '$.provider') || '/' || json_extract(p.content, '$.model')
         else json_extract(p.content, '$.decision')
       end as name,
       p.finished_at - p.started_at as ms,
       p.error is not null as isFailed
     from (
       select n from session
       where agent_n in (select n from agent where workspace_id = :workspaceId)
       order by n desc
       limit ${MOST_MARKED_SESSIONS}
     ) s
     join step p on p.session_n = s.n
     where p.started_at >= :since and p.finished_at is not null and p.type in (${MARKED_STEPS}) and p.content <> 'null'
     order by p.session_n desc, p.ordinal desc
     limit :limit`,
  )
  return {
    async runCounts(workspaceId, since) {
      return counts.all({ workspaceId, since })
    },
    async stepMarks(workspaceId, since, limit) {
      return marks.all({ workspaceId, since, limit }).map((row) => ({ ...row, isFailed: row.isFailed === 1 }))
    },
  }
}
