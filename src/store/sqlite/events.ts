import type { Run } from '../../spec/run.ts'
import { toColumn } from '../rows/event-data.ts'
import { ownerOf } from '../rows/event-rows.ts'
import { toText } from '../rows/json-column.ts'
import type { SessionUpdateEvent } from '../session-update.ts'
import type { Database } from 'better-sqlite3'

export interface EventTable {
  /**
   * @param run the event's run, when the update has it: ids that it repeats are then left out of the stored data
   * @returns the stored data; null where the event shows a step
   */
  add(sessionN: number, runN: number, event: SessionUpdateEvent, run: Run | undefined): string | null
}

export function openEvents(db: Database): EventTable {
  const insert = db.prepare(
    `insert into event (session_n, seq, run_n, ts, kind, subject, ordinal, data)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    // The most frequent write, so its values are bound by position, which is the fastest way.
    add(sessionN, runN, event, run) {
      const { seq, ts, kind, subject } = event
      if ('ordinal' in event) {
        insert.run(sessionN, seq, runN, ts, kind, subject, event.ordinal, 'null')
        return null
      }
      const data = toText(toColumn(event, run && ownerOf(run)))
      insert.run(sessionN, seq, runN, ts, kind, subject, null, data)
      return data
    },
  }
}
