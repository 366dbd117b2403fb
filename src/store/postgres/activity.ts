import type { RunCount, StepMark } from '../queries.ts'
import { HOUR_MS, MARKED_STEPS, MOST_COUNTED_RUNS, MOST_MARKED_SESSIONS } from '../rows/activity-rows.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

/** What happened lately, for an overview. */
export const activityMethods = (db: PostgresPool): Pick<Store, 'runCounts' | 'stepMarks'> => ({
  runCounts: (workspaceId, since) =>
    db.rows<RunCount>(
      `select (started_at - :since) / ${HOUR_MS} as hour, status, error_code as "errorCode", count(*) as runs
       from (
         select started_at, status, error_code from run
         where workspace_id = :workspaceId and started_at >= :since and parent_run_id is null
         order by started_at desc
         limit ${MOST_COUNTED_RUNS}
       ) r
       group by 1, 2, 3
       order by 1, 2, 3 nulls first`,
      { workspaceId, since },
    ),
  stepMarks: (workspaceId, since, limit) =>
    db.rows<StepMark>(
      `select p.type,
         case p.type
           when 'ToolCall' then p.content::jsonb ->> 'ref'
           when 'Reasoning' then (p.content::jsonb ->> 'provider') || '/' || (p.content::jsonb ->> 'model')
           else p.content::jsonb ->> 'decision'
         end as name,
         p.finished_at - p.started_at as ms,
         p.error is not null as "isFailed"
       from (
         select id, n from session
         where workspace_id = :workspaceId
         order by started_at desc, n desc
         limit ${MOST_MARKED_SESSIONS}
       ) s
       join step p on p.session_id = s.id
       where p.started_at >= :since and p.finished_at is not null and p.type in (${MARKED_STEPS}) and p.content <> 'null'
       order by s.n desc, p.ordinal desc
       limit :limit`,
      { workspaceId, since, limit },
    ),
})
