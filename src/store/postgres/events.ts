import type { SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run.ts'
import { toColumn } from '../rows/event-data.ts'
import { ownerOf, toEvent, type EventRow } from '../rows/event-rows.ts'
import { toColumnText } from '../rows/json-column.ts'
import type { SessionUpdateEvent } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const eventReads = (db: PostgresPool): Pick<Store, 'events'> => ({
  async events(sessionId, after, limit) {
    const rows = await db.rows<EventRow>(
      `select e.seq, e.run_id, r.workspace_id, r.agent_id, r.version_id, e.ts, e.kind, e.subject, e.data, e.ordinal,
         t.id as step_id, t.sequence, t.type, t.content, l.result, t.tokens_used, t.error, t.started_at, t.finished_at
       from event e
         join run r on r.id = e.run_id
         left join step t on t.session_id = e.session_id and t.ordinal = e.ordinal
         left join large_result l on l.digest = t.result_digest
       where e.session_id = :sessionId and e.seq > :after
       order by e.seq
       limit :limit`,
      { sessionId, after, limit },
    )
    return rows.map((row) => toEvent(sessionId, row))
  },
})

/** @param run the event's run, when the update has it: ids that it repeats are then left out of the stored data */
export const toEventColumns = (sessionId: SessionId, event: SessionUpdateEvent, run: Run | undefined) => ({
  session_id: sessionId,
  seq: event.seq,
  run_id: event.runId,
  ts: event.ts,
  kind: event.kind,
  subject: event.subject,
  ...('ordinal' in event
    ? { ordinal: event.ordinal, data: 'null' }
    : { ordinal: null, data: toColumnText(toColumn(event, run && ownerOf(run))) }),
})
