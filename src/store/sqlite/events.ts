import type { Database } from 'better-sqlite3'
import type { AgentId, RunId, SessionId, StepId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { EventKind, StoredEvent } from '../../spec/event.ts'
import type { Run } from '../../spec/run.ts'
import type { StepType } from '../../spec/step.ts'
import { toTimelineItem } from '../../spec/view/timeline-item.ts'
import type { Store } from '../store.ts'
import type { SessionUpdateEvent } from '../session-update.ts'
import { toText } from './database/json-column.ts'
import { toContent } from './results.ts'
import { fromColumn, toColumn, type EventOwner } from './event-data.ts'

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

interface EventRow {
  seq: number
  run_id: RunId
  workspace_id: WorkspaceId
  agent_id: AgentId
  version_id: VersionId
  ts: number
  kind: EventKind
  subject: string
  data: string
  ordinal: number | null
  step_id: StepId
  sequence: number
  type: StepType
  content: string
  result: string | null
  tokens_used: number | null
  error: string | null
  started_at: number
  finished_at: number | null
}

function toEvent(sessionId: SessionId, row: EventRow): StoredEvent {
  const owner: EventOwner = {
    sessionId,
    runId: row.run_id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    agentVersionId: row.version_id,
  }
  return {
    sessionId,
    seq: row.seq,
    runId: row.run_id,
    ts: row.ts,
    kind: row.kind,
    subject: row.subject,
    data:
      row.ordinal === null
        ? fromColumn(JSON.parse(row.data) as JsonValue, owner)
        : { sessionId, runId: row.run_id, step: toStepItem(row, row.ordinal, owner) },
  }
}

/** The step as it was when the event was emitted: a step that started had no end yet. */
function toStepItem(row: EventRow, ordinal: number, owner: EventOwner): JsonObject {
  const isStart = row.subject === 'engine.step.started'
  const item = toTimelineItem(
    {
      id: row.step_id,
      sessionId: owner.sessionId,
      runId: owner.runId,
      type: row.type,
      sequence: row.sequence,
      ordinal,
      content: toContent(row.content, row.result),
      tokensUsed: row.tokens_used,
      error: isStart ? null : row.error,
      startedAt: row.started_at,
      finishedAt: isStart ? null : row.finished_at,
    },
    owner,
  )
  return item as unknown as JsonObject
}

const ownerOf = ({ sessionId, id, workspaceId, agentId, agentVersionId }: Run): EventOwner => ({
  sessionId,
  runId: id,
  workspaceId,
  agentId,
  agentVersionId,
})
