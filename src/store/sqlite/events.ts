import type { RunId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import { toColumn } from '../rows/event-data.ts'
import { ownerOf } from '../rows/event-rows.ts'
import { toText } from '../rows/json-column.ts'
import type { SessionUpdateEvent } from '../session-update.ts'
import { prepareInsert } from './database/insert-rows.ts'
import type { Database } from 'better-sqlite3'

export interface EventTable {
  /**
   * @param runs of the update: ids that an event repeats of its run are left out of its stored data
   * @returns the stored data of each; null where the event shows a step
   */
  add(
    sessionN: number,
    events: readonly SessionUpdateEvent[],
    runNumber: (id: RunId) => number,
    runs: readonly Run[],
  ): readonly (string | null)[]
}

export function openEvents(db: Database): EventTable {
  const insert = prepareInsert(db, 'event (session_n, seq, run_n, ts, kind, subject, ordinal, data)', 8)
  return {
    add(sessionN, events, runNumber, runs) {
      const data = events.map((event) => {
        if ('ordinal' in event) return null
        const run = runs.find(({ id }) => id === event.runId)
        return toText(toColumn(event, run && ownerOf(run)))
      })
      insert(
        events.map((event, at) => [
          sessionN,
          event.seq,
          runNumber(event.runId),
          event.ts,
          event.kind,
          event.subject,
          'ordinal' in event ? event.ordinal : null,
          data[at] ?? 'null',
        ]),
      )
      return data
    },
  }
}
