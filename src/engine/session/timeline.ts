/** Steps and tasks as timelines show them. Source: HTTP API, "Timeline item"; decisions, sections 6 and 8. */
import { setImmediate } from 'node:timers/promises'
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { SessionId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { Conversation, RunSummary, SessionBody, TimelineItem } from '../../spec/api.ts'
import type { Run } from '../../spec/run.ts'
import type { Session } from '../../spec/session.ts'
import type { RunStep } from '../../spec/step.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { toTaskContent } from '../../spec/task-content.ts'
import { toTimelineItem } from '../../spec/timeline-item.ts'
import type { Store } from '../../store/store.ts'

/** A conversation whose timeline is read in pages, so that a long one does not block other requests. */
export interface PagedConversation extends Conversation {
  /** The items after `items`, in order; absent when there are none. A page may be empty. */
  readonly more?: AsyncIterable<readonly TimelineItem[]>
}

/** Steps per page: few enough to be read, converted and written in a millisecond or two. */
const PAGE = 100

/**
 * The conversation of a session as it is now. Later pages leave out steps that were added after the first.
 * @throws Failure `not_found`
 */
export async function conversationOf(store: Store, id: SessionId): Promise<PagedConversation> {
  const [session, runs, tasks, first] = await Promise.all([
    store.session(id),
    store.runsOfSession(id),
    store.tasksOfSession(id),
    store.stepsAfter(id, 0, PAGE),
  ])
  if (!session) throw fail('not_found', { what: 'session' })
  const runById = new Map(runs.map((run) => [run.id, run]))
  const taskById = new Map<JsonValue | undefined, TaskRecord>(tasks.map((task) => [task.id, task]))
  const toItem = (step: RunStep): TimelineItem => {
    // A request shows its task as it is now, not as it was created.
    const task = step.type === 'UserTaskReq' ? taskById.get(step.content['user_task_id']) : undefined
    const content = task ? ({ ...toTaskContent(task) } as unknown as JsonObject) : step.content
    return toTimelineItem(step, runById.get(step.runId)!, content)
  }
  async function* more(): AsyncGenerator<readonly TimelineItem[]> {
    for (let page = first; page.length === PAGE;) {
      await setImmediate()
      page = await store.stepsAfter(id, page.at(-1)!.ordinal, PAGE)
      yield page.filter(({ ordinal }) => ordinal <= session!.lastOrdinal).map(toItem)
    }
  }
  return {
    session: toSessionBody(session),
    runs: runs.map((run) => toRunSummary(run, session)),
    items: first.map(toItem),
    ...(first.length === PAGE && { more: more() }),
  }
}

/** A session as timelines and session lists show it. */
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
    startedAt: toIsoText(session.startedAt),
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
    startedAt: toIsoText(run.startedAt),
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
