/** Marks of the spans that are to be exported. */
import type { Dialect } from '../dialect.ts'
import type { SessionUpdate } from '../session-update.ts'
import { readRows, writeRows, type DatabaseWork, type NounWork } from '../statement.ts'
import type { TraceMark } from '../trace-store.ts'

/** A mark that a process has taken stays with it: what was added comes after. */
const MARK = `insert into trace_mark (session_id, workspace_id, sent, ready, due_at, since)
  values (:sessionId, :workspaceId, 0, :ready, :now, :now)
  on conflict (session_id) do update
  set ready = excluded.ready, due_at = coalesce(trace_mark.due_at, excluded.due_at),
    since = coalesce(trace_mark.since, excluded.since)`

/** Inside the transaction of the update. */
export function* markTraced({ session: { id, workspaceId, lastSeq }, events }: SessionUpdate): DatabaseWork<void> {
  const now = events.at(-1)?.ts
  if (now !== undefined) yield* writeRows(MARK, { sessionId: id, workspaceId, ready: lastSeq, now })
}

export function prepareTraceMarks({ forUpdate }: Dialect): NounWork<never, 'claimTraces', 'endTraces'> {
  // Rows that another process is taking are left to it.
  const skipTaken = forUpdate && `${forUpdate} skip locked`
  const claim = `update trace_mark set due_at = :until
    where session_id in (
      select session_id from trace_mark
      where workspace_id = :workspaceId and due_at <= :now
      order by due_at
      limit :limit
      ${skipTaken}
    )
    returning session_id as "sessionId", sent, ready, since`
  const end = `update trace_mark
    set sent = :upTo, due_at = case when ready > :upTo then cast(:now as bigint) end, since = case when ready > :upTo then cast(:now as bigint) end
    where session_id = :sessionId and sent = :sent`
  return {
    reads: {},
    writes: { claimTraces: (given) => readRows<TraceMark>(claim, { ...given }) },
    transactions: {
      *endTraces(progress, now) {
        for (const each of progress) yield* writeRows(end, { ...each, now })
      },
    },
  }
}
