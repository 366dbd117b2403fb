/** A step as timelines show it. Source: docs/design/runs-and-recovery.md#timeline */
import { toIsoText, isoOrNull } from '../base/clock.ts'
import { eventIdOf, type AgentId, type VersionId, type WorkspaceId } from '../base/ids.ts'
import type { JsonObject } from '../base/json/json.ts'
import type { TimelineItem } from '../spec/api.ts'
import { ERASED_CONTENT, type RunStep } from '../spec/step.ts'

/** Data of the run that a step repeats, besides the run's id. */
export interface StepOwner {
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly agentVersionId: VersionId
}

/** A step as it leaves: its own fields, then the ids that every step carries. The content of an erased step is null. */
export function toTimelineItem(step: RunStep, owner: StepOwner, content: JsonObject = step.content): TimelineItem {
  return {
    runId: step.runId,
    id: step.id,
    sequence: step.sequence,
    ordinal: step.ordinal,
    type: step.type,
    // A spread with keys after it takes V8 forty times as long, and a long timeline is made of little else.
    content:
      content === ERASED_CONTENT
        ? null
        : Object.assign({}, content, {
            step_kind: step.type,
            session_id: step.sessionId,
            run_id: step.runId,
            tenant_id: owner.workspaceId,
            agent_id: owner.agentId,
            agent_version_id: owner.agentVersionId,
            event_id: eventIdOf(step.id),
          }),
    tokensUsed: step.tokensUsed,
    error: step.error,
    startedAt: toIsoText(step.startedAt),
    finishedAt: isoOrNull(step.finishedAt),
  }
}
