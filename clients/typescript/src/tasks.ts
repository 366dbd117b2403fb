import type { StartOptions, SvcClient } from './client.ts'
import { connectionOf, toSegment } from './connection.ts'
import type { JsonObject, MessageAccepted, RunStatus, TaskItem, TaskList } from './generated/api.ts'
import type { UserTask } from './shapes.ts'
import type { RequestOptions } from './transport.ts'

/** What a person decided; for an approval `true` or `false` is enough. */
export interface TaskDecision {
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  /** Reaches the model where the policy returns a rejection to the agent. */
  readonly comment?: string
  /** Arguments to run instead of those that were asked for. */
  readonly arguments?: JsonObject
  /** What the policy asks to be understood has been understood. */
  readonly acknowledged?: boolean
  readonly metadata?: JsonObject
}

export interface TasksQuery {
  /** `pending`, `completed`, `expired` or `cancelled`, or several of them separated by commas. */
  readonly status?: string
  /** 1 to 500; 50 when absent. */
  readonly take?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
}

/** Tasks of all runs that the key may reach, newest first: GET /v1/tasks. */
export const listTasks = (client: SvcClient, query: TasksQuery = {}, options: RequestOptions = {}): Promise<TaskList> =>
  connectionOf(client).call('GET', '/v1/tasks', options, { query: { ...query } })

/** GET /v1/tasks/{taskId} */
export const getTask = (client: SvcClient, taskId: string, options: RequestOptions = {}): Promise<TaskItem> =>
  connectionOf(client).call('GET', `/v1/tasks/${toSegment(taskId)}`, options)

/**
 * Tasks of the run and of its sub-agent runs that wait for an answer, oldest first.
 * Empty where the trigger hides the timeline, and for a server whose status has no `pending`.
 */
export const pendingTasks = async (
  client: SvcClient,
  runId: string,
  options: RequestOptions = {},
): Promise<readonly UserTask[]> => pendingTasksOf(client, await client.getRun(runId, options), options)

/** The same for a status that was just read. */
export async function pendingTasksOf(
  client: SvcClient,
  { pending = [] }: RunStatus,
  options: RequestOptions,
): Promise<readonly UserTask[]> {
  const ids = pending.flatMap(({ userTaskId }) => userTaskId ?? [])
  const tasks = await Promise.all(ids.map((id) => getTask(client, id, options)))
  return tasks.filter(({ status }) => status === 'pending').map(toUserTask)
}

/**
 * Answers a task. Sends the digest of the arguments that the task showed, so that an answer never approves other
 * arguments. A refusal comes as `error` and `code` of the result.
 */
export function answerTask(
  client: SvcClient,
  runId: string,
  task: UserTask,
  decision: boolean | TaskDecision,
  options: StartOptions = {},
): Promise<MessageAccepted> {
  const values = typeof decision === 'boolean' ? { approved: decision } : decision
  return client.sendRunMessage(
    runId,
    toAnswerBody({ id: task.userTaskId, argumentsDigest: task.content.arguments_digest }, values),
    options,
  )
}

/** The message that answers a task, with the digest of the arguments that were shown. */
export function toAnswerBody(
  { id, argumentsDigest }: { readonly id: string; readonly argumentsDigest?: string | undefined },
  { comment, acknowledged, metadata, arguments: edited, ...answer }: TaskDecision,
): JsonObject {
  const meaning: JsonObject = {
    ...metadata,
    ...(argumentsDigest !== undefined && { 'svc/arguments_digest': argumentsDigest }),
    ...(comment !== undefined && { 'svc/comment': comment }),
    ...(acknowledged !== undefined && { 'svc/acknowledged': acknowledged }),
    ...(edited !== undefined && { 'svc/arguments': edited }),
  }
  return { userTaskId: id, ...answer, ...(Object.keys(meaning).length > 0 && { metadata: meaning }) }
}

const toUserTask = (task: TaskItem): UserTask => ({
  userTaskId: task.user_task_id,
  runId: task.run_id,
  kind: task.kind,
  title: task.title,
  apiCompletable: task.completable_via?.includes('api') ?? true,
  content: task,
})
