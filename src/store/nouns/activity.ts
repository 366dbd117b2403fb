/** What happened lately, for an overview. */
import type { RunCount, StepMark } from '../queries.ts'
import type { Dialect } from '../dialect.ts'
import { readRows, type NounWork } from '../statement.ts'

const HOUR_MS = 3_600_000

/** Runs that are counted, the newest. */
const MOST_COUNTED_RUNS = 20_000

/** Sessions whose steps are read, the newest: steps have no index by time. */
const MOST_MARKED_SESSIONS = 200

export function prepareActivity({
  column,
  key,
  ofWorkspace,
  member,
}: Dialect): NounWork<'runCounts' | 'stepMarks', never> {
  const counts = `
    select (started_at - :since) / ${HOUR_MS} as hour, status, error_code as "errorCode", count(*) as runs
    from (
      select r.started_at, r.status, r.error_code from run r
      where r.started_at >= :since and r.parent_run_id is null and ${ofWorkspace('r')}
      order by r.started_at desc
      limit ${MOST_COUNTED_RUNS}
    ) x
    group by 1, 2, 3
    order by 1, 2, 3 nulls first`
  // Steps that tell how long a tool or a model took, and what policies decided.
  const marks = `
    select p.type,
      case p.type
        when 'ToolCall' then ${member('p.content', 'ref')}
        when 'Reasoning' then (${member('p.content', 'provider')}) || '/' || (${member('p.content', 'model')})
        else ${member('p.content', 'decision')}
      end as name,
      p.finished_at - p.started_at as ms,
      p.error is not null as "isFailed"
    from (
      select s.n, s.id from session s
      where ${ofWorkspace('s')}
      order by s.started_at desc, s.n desc
      limit ${MOST_MARKED_SESSIONS}
    ) s
    join step p on p.${column('session')} = s.${key}
    where p.started_at >= :since and p.finished_at is not null and p.type in ('ToolCall', 'Reasoning', 'PolicyDecision')
      and p.content <> 'null'
    order by s.n desc, p.ordinal desc
    limit :limit`
  return {
    reads: {
      runCounts: (workspaceId, since) => readRows<RunCount>(counts, { workspaceId, since }),
      *stepMarks(workspaceId, since, limit) {
        const rows = yield* readRows<Omit<StepMark, 'isFailed'> & { isFailed: boolean | 0 | 1 }>(marks, {
          workspaceId,
          since,
          limit,
        })
        return rows.map((row) => ({ ...row, isFailed: Boolean(row.isFailed) }))
      },
    },
    writes: {},
    transactions: {},
  }
}
