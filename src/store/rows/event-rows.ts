/** Rows of events, and the events that they are. */
import type { AgentId, RunId, SessionId, StepId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { EventKind, StoredEvent } from '../../spec/event.ts'
import type { Run } from '../../spec/run/run.ts'
import type { StepType } from '../../spec/step.ts'
import { toTimelineItem } from '../../view/timeline-item.ts'
import { fromColumn, type EventOwner } from './event-data.ts'
import { toContent } from './step-content.ts'

export interface EventRow {
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

export function toEvent(sessionId: SessionId, row: EventRow): StoredEvent {
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
  return toJson(item)
}

export const ownerOf = ({ sessionId, id, workspaceId, agentId, agentVersionId }: Run): EventOwner => ({
  sessionId,
  runId: id,
  workspaceId,
  agentId,
  agentVersionId,
})
