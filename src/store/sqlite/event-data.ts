/**
 * What the log keeps of an event. It says which run and session it is of, and a step in it says it six times more, which is
 * more than half of its text; the row says it too, so it is left out and put back.
 */
import type { RunId, SessionId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { StoredEvent } from '../../spec/event.ts'
import type { StepOwner } from '../../spec/timeline-item.ts'

export interface EventOwner extends StepOwner {
  readonly sessionId: SessionId
  readonly runId: RunId
}

/** The data as it is, or in a list without what its owner says: data itself is never a list. */
export function toColumn(event: StoredEvent, owner: EventOwner | undefined): JsonValue {
  const { kind, data } = event
  const { sessionId, runId, ...rest } = data
  if (sessionId !== event.sessionId || runId !== event.runId) return data
  // What is no step has nothing more of its owner's in it.
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
      ...present({ id, sequence, ordinal, type }),
      content: {
        ...content,
        session_id: sessionId,
        run_id: runId,
        tenant_id: owner.workspaceId,
        agent_id: owner.agentId,
        agent_version_id: owner.agentVersionId,
        ...present({ event_id }),
      },
      ...ending,
    },
    ...more,
  }
}

/** In their usual place where they are there at all. */
const present = (values: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined))
