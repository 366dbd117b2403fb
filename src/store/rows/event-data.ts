/**
 * Shortens the stored data of events. The data names its run and session, and a step in it repeats such ids six times, which
 * is more than half of the text. The row has the same ids, so they are left out on writing and restored on reading.
 */
import type { RunId, SessionId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { StoredEvent } from '../../spec/event.ts'
import type { StepOwner } from '../../view/timeline-item.ts'

export interface EventOwner extends StepOwner {
  readonly sessionId: SessionId
  readonly runId: RunId
}

/** The data as it is, or a list of its parts without the owner's ids. Data itself is never a list, so a list marks the short form. */
export function toColumn(event: StoredEvent, owner: EventOwner | undefined): JsonValue {
  const { kind, data } = event
  const { sessionId, runId, ...rest } = data
  if (sessionId !== event.sessionId || runId !== event.runId) return data
  // Only steps repeat further ids of the owner.
  if (kind !== 'step') return [rest]
  const { step, ...more } = rest
  if (!owner || !isJsonObject(step)) return [rest]
  const { runId: stepRunId, content, ...item } = step
  if (stepRunId !== owner.runId || !isJsonObject(content)) return [rest]
  const { session_id, run_id, tenant_id, agent_id, agent_version_id, ...own } = content
  const isOwned =
    session_id === owner.sessionId &&
    run_id === owner.runId &&
    tenant_id === owner.workspaceId &&
    agent_id === owner.agentId &&
    agent_version_id === owner.agentVersionId
  return isOwned ? [item, own, more] : [rest]
}

export function fromColumn(column: JsonValue, owner: EventOwner): JsonObject {
  if (!Array.isArray(column)) return column as JsonObject
  const { sessionId, runId } = owner
  if (column.length === 1) return { sessionId, runId, ...(column[0] as JsonObject) }
  const [item, own, more] = column as [JsonObject, JsonObject, JsonObject]
  const { id, sequence, ordinal, type, ...ending } = item
  const { event_id, ...content } = own
  return {
    sessionId,
    runId,
    step: {
      runId,
      ...withoutUndefined({ id, sequence, ordinal, type }),
      content: {
        ...content,
        session_id: sessionId,
        run_id: runId,
        tenant_id: owner.workspaceId,
        agent_id: owner.agentId,
        agent_version_id: owner.agentVersionId,
        ...withoutUndefined({ event_id }),
      },
      ...ending,
    },
    ...more,
  }
}

/** Drops undefined members; the others keep their usual order. */
const withoutUndefined = (values: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined))
