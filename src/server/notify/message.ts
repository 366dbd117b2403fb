/** A stored notice as it leaves: its JSON, and the content that its channel may see. Source: docs/design/notifications.md#content */
import { runAddress, taskAddress } from '../../view/console-address.ts'
import { toIsoText } from '../../base/clock.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { Redactor } from '../../base/secret.ts'
import type { ChannelConfig } from '../../spec/project/config.ts'
import type { StoredNotice } from '../../spec/notice.ts'
import type { Run } from '../../spec/run/run.ts'
import { countApprovals, isOperatorOnly, type TaskPeople, type TaskRecord } from '../../spec/task.ts'
import type { Store } from '../../store/store.ts'
import { describeApprover } from '../../view/task/task-people.ts'
import { toTaskContent } from '../../view/task/task-content.ts'
import type { DeskTask, NoticeMessage } from './channel.ts'

/** Of `data`: a field is added without a new number; what changes its meaning gets one. */
const SCHEMA_VERSION = 1

/** Content beyond this is left out: the link shows it. */
const MAX_CONTENT_CHARACTERS = 64 * 1024

export interface MessageParts {
  readonly store: Pick<Store, 'task' | 'run'>
  readonly redactor: Redactor
  /** Null without a console. */
  readonly consoleUrl: () => string | null
}

/** @returns undefined for a notice about a task that no longer waits, and which says nothing any more */
export async function buildMessage(
  notice: StoredNotice,
  { content: mayShow = false }: ChannelConfig,
  { store, redactor, consoleUrl }: MessageParts,
): Promise<NoticeMessage | undefined> {
  const needsTask = notice.taskId !== null && (mayShow || notice.whilePending)
  const task = needsTask ? await store.task(notice.taskId!) : undefined
  if (notice.whilePending && task?.status !== 'pending') return undefined
  const run = mayShow && notice.runId !== null ? await store.run(notice.runId) : undefined
  const content = mayShow ? contentOf(task, run) : undefined
  const link = linkOf(notice, consoleUrl())
  const data: JsonObject = {
    schemaVersion: SCHEMA_VERSION,
    ...notice.data,
    ...(link !== undefined && { link }),
    ...(content && boundContent(content)),
  }
  const body = redactor.jsonText({ type: notice.event, timestamp: toIsoText(notice.at), data })
  return {
    notice,
    body,
    ...(link !== undefined && { link }),
    ...(mayShow && task && run && { task: redactor.json(toShownTask(task, run)) }),
  }
}

/** Texts, arguments and names of people. */
function contentOf(task: TaskRecord | undefined, run: Run | undefined): JsonObject | undefined {
  const by = task?.answer?.completedBy
  const content: JsonObject = {
    ...(task && { task: toJson(toTaskContent(task)) }),
    ...(by !== undefined && { by: describeApprover(by) }),
    ...(task?.answer?.comment !== undefined && { comment: task.answer.comment }),
    ...(run?.error != null && { error: run.error }),
  }
  return Object.keys(content).length === 0 ? undefined : content
}

const boundContent = (content: JsonObject): JsonObject =>
  JSON.stringify(content).length > MAX_CONTENT_CHARACTERS ? { contentOmitted: true } : { content }

function linkOf({ taskId, runId }: StoredNotice, consoleUrl: string | null): string | undefined {
  if (consoleUrl === null) return undefined
  if (taskId !== null) return taskAddress(consoleUrl, taskId)
  return runId === null ? undefined : runAddress(consoleUrl, runId)
}

export const toShownTask = (task: TaskRecord, run: Run, people?: TaskPeople): DeskTask => ({
  ...task,
  agent: `${run.agentName}@${run.versionLabel}`,
  approvalsReceived: countApprovals(task),
  apiCompletable: !isOperatorOnly(task.kind) && task.approverRole === undefined,
  ...(people && { people }),
})
