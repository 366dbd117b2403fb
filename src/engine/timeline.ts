/** Steps and tasks as they are shown. Source: HTTP API, "Timeline item"; decisions, sections 6 and 8. */
import { iso, isoOrNull } from '../base/clock.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { Conversation, RunSummary, SessionBody, TaskContent } from '../spec/api.ts'
import type { Run } from '../spec/run.ts'
import type { Session } from '../spec/session.ts'
import type { Step } from '../spec/step.ts'
import { isOperatorOnly, type UserTask } from '../spec/task.ts'
import { toTimelineItem } from '../spec/timeline-item.ts'

/** A task as `UserTaskReq.content` and `task` of user_task events. What does not apply is absent. */
export function toTaskContent(task: UserTask): TaskContent {
  const content = {
    user_task_id: task.id,
    kind: task.kind,
    title: task.title,
    prompt: task.prompt,
    reason: task.reason,
    status: task.status,
    tool: task.tool,
    arguments: task.arguments,
    arguments_digest: task.argumentsDigest,
    policies: task.policies?.map((each): JsonObject => ({ ...each })),
    authority_ref: task.authorityRef,
    approvals_required: task.approvalsRequired,
    approvals_received: task.approvalsRequired === undefined ? undefined : approvalsOf(task),
    comprehension_required: task.comprehensionRequired,
    context: task.context,
    options: task.options,
    min: task.min,
    max: task.max,
    on_reject: task.onReject,
    on_modify: task.onModify,
    expires_at: task.expiresAt === undefined ? undefined : iso(task.expiresAt),
    on_timeout: task.onTimeout,
    completable_via: isOperatorOnly(task.kind) || task.approverRole !== undefined ? ['operator'] : ['api', 'operator'],
  }
  return Object.fromEntries(
    Object.entries(content).filter(([, value]) => value !== undefined),
  ) as unknown as TaskContent
}

/** Distinct approvals that count. */
export const approvalsOf = (task: UserTask): number => task.votes.filter((vote) => vote.approved).length

/** The whole conversation of a session, as it stands. */
export function toConversation(
  session: Session,
  runs: readonly Run[],
  steps: readonly Step[],
  tasks: readonly UserTask[],
): Conversation {
  const runById = new Map(runs.map((run) => [run.id, run]))
  const taskById = new Map<JsonValue | undefined, UserTask>(tasks.map((task) => [task.id, task]))
  return {
    session: toSessionBody(session),
    runs: runs.map((run) => toRunSummary(run, session)),
    items: steps.map((step) => {
      // A request shows its task as it stands now, not as it was asked.
      const task = step.type === 'UserTaskReq' ? taskById.get(step.content['user_task_id']) : undefined
      return toTimelineItem(
        step,
        runById.get(step.runId)!,
        task ? ({ ...toTaskContent(task) } as unknown as JsonObject) : step.content,
      )
    }),
  }
}

/** A session as both the timeline and the list of sessions show it. */
export function toSessionBody(session: Session): SessionBody {
  return {
    id: session.id,
    tenantId: session.workspaceId,
    agentId: session.agentId,
    agentVersionId: session.agentVersionId,
    llmModel: session.llmModel,
    triggerType: session.triggerType,
    triggeredBy: session.triggeredBy,
    triggerId: session.triggerId,
    triggerName: session.triggerName,
    status: session.status,
    totalTokensUsed: session.totalTokensUsed,
    output: session.output,
    error: session.error,
    startedAt: iso(session.startedAt),
    finishedAt: isoOrNull(session.finishedAt),
    input: session.input,
    startContext: session.startContext,
  }
}

function toRunSummary(run: Run, session: Session): RunSummary {
  return {
    id: run.id,
    sessionId: run.sessionId,
    agentId: run.agentId,
    agentVersionId: run.agentVersionId,
    parentRunId: run.parentRunId,
    depth: run.depth,
    status: run.status,
    totalTokensUsed: run.usage.inputTokens + run.usage.outputTokens,
    output: run.output,
    error: run.error,
    startedAt: iso(run.startedAt),
    finishedAt: isoOrNull(run.finishedAt),
    triggerType: session.triggerType,
    triggeredBy: session.triggeredBy,
    triggerId: session.triggerId,
    triggerName: session.triggerName,
    input: run.input,
    llmModel: run.llmModel,
    agentName: run.agentName,
    versionLabel: run.versionLabel,
  }
}
