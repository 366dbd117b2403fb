import type { Run } from '../../spec/run.ts'
import { toColumn } from '../rows/event-data.ts'
import { ownerOf, toEvent, type EventRow } from '../rows/event-rows.ts'
import { toText } from '../rows/json-column.ts'
import type { SessionUpdateEvent } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { Database } from 'better-sqlite3'

export interface EventTable {
  readonly reads: Pick<Store, 'events'>
  /** @param run the event's run, when the update has it: ids that it repeats are then left out of the stored data */
  add(sessionN: number, runN: number, event: SessionUpdateEvent, run: Run | undefined): void
}

export function openEvents(db: Database): EventTable {
  const insert = db.prepare(
    `insert into event (session_n, seq, run_n, ts, kind, subject, ordinal, data)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const after = db.prepare<{ sessionId: string; after: number; limit: number }, EventRow>(
    `select e.seq, r.id as run_id, a.workspace_id, a.id as agent_id, r.version_id, e.ts, e.kind, e.subject, e.data, e.ordinal,
       t.id as step_id, t.sequence, t.type, t.content, l.result, t.tokens_used, t.error, t.started_at, t.finished_at
     from event e
       join run r on r.n = e.run_n
       join agent a on a.n = r.agent_n
       left join step t on t.session_n = e.session_n and t.ordinal = e.ordinal
       left join large_result l on l.digest = t.result_digest
     where e.session_n = (select n from session where id = :sessionId) and e.seq > :after
     order by e.seq
     limit :limit`,
  )

  return {
    reads: {
      async events(sessionId, seq, limit) {
        return after.all({ sessionId, after: seq, limit }).map((row) => toEvent(sessionId, row))
      },
    },
    // The most frequent write, so its values are bound by position, which is the fastest way.
    add(sessionN, runN, event, run) {
      const { seq, ts, kind, subject } = event
      if ('ordinal' in event) insert.run(sessionN, seq, runN, ts, kind, subject, event.ordinal, 'null')
      else insert.run(sessionN, seq, runN, ts, kind, subject, null, toText(toColumn(event, run && ownerOf(run))))
    },
  }
}
