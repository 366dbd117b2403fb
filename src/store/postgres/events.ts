import type { SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import { toColumn } from '../rows/event-data.ts'
import { ownerOf } from '../rows/event-rows.ts'
import { toColumnText } from '../rows/json-column.ts'
import type { SessionUpdateEvent } from '../session-update.ts'

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
