/**
 * What the log keeps of a step event. Each says eight times which run, agent and session it is of, which is more than half of
 * its text; the row says it too, so it is left out and put back.
 */
import type { AgentId, RunId, SessionId, VersionId, WorkspaceId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { StoredEvent } from '../../spec/event.ts'

export interface Owner {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly agentVersionId: VersionId
}

/** The data as it is, or in a list without what its owner says: data itself is never a list. */
export function toColumn(event: StoredEvent, owner: Owner | undefined): JsonValue {
  const { data } = event
  if (event.kind !== 'step' || !owner) return data
  const { sessionId, runId, step, ...more } = data
  if (sessionId !== owner.sessionId || runId !== owner.runId || !isJsonObject(step)) return data
  const { runId: stepRunId, content, ...item } = step
  if (stepRunId !== owner.runId || !isJsonObject(content)) return data
  const { session_id, run_id, tenant_id, agent_id, agent_version_id, ...own } = content
  const isOwned =
    session_id === owner.sessionId &&
    run_id === owner.runId &&
    tenant_id === owner.workspaceId &&
    agent_id === owner.agentId &&
    agent_version_id === owner.agentVersionId
  return isOwned ? [item, own, more] : data
}

export function fromColumn(column: JsonValue, owner: Owner): JsonObject {
  if (!Array.isArray(column)) return column as JsonObject
  const [item, own, more] = column as [JsonObject, JsonObject, JsonObject]
  const { id, sequence, ordinal, type, ...ending } = item
  const { event_id, ...content } = own
  return {
    sessionId: owner.sessionId,
    runId: owner.runId,
    step: {
      runId: owner.runId,
      ...present({ id, sequence, ordinal, type }),
      content: {
        ...content,
        session_id: owner.sessionId,
        run_id: owner.runId,
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
