import type { StartOptions, SvcClient } from './client.ts'
import { SvcError } from './error.ts'
import type { JsonObject, MessageAccepted, RunStatus, StreamEvent } from './generated/api.ts'
import type { PlatformSignal } from './platform.ts'
import { isTerminal } from './run-status.ts'
import type { UserTask } from './shapes.ts'
import { answerTask, pendingTasksOf, type TaskDecision } from './tasks.ts'
import { sleepUntil, type RequestOptions } from './transport.ts'
import { PATIENCE, waitForRun } from './wait.ts'

/** A pause that somebody else must end is looked at soon, then ever more seldom. */
const FIRST_LOOK_MS = 100
const LONGEST_LOOK_MS = 2000

export interface FollowRunOptions {
  /** Decides a task; `undefined` leaves the run waiting and ends the function. */
  readonly onTask?: (task: UserTask) => Promise<boolean | TaskDecision | undefined> | boolean | TaskDecision | undefined
  /** Replies to a run in `WaitingForResponse`; `undefined` leaves it waiting. */
  readonly onReply?: (run: RunStatus) => Promise<string | undefined> | string | undefined
  /** Gets each event of the run, once and in order, the last one before the function returns. */
  readonly onEvent?: (event: StreamEvent) => void
  readonly signal?: PlatformSignal
}

export interface RunToEndOptions extends FollowRunOptions {
  /** Of the start; one of its own when absent, so that a start whose connection breaks is repeated. */
  readonly idempotencyKey?: string
}

/** Starts a run and follows it to its end, as `followRun` does. */
export async function runToEnd(
  client: SvcClient,
  agentId: string,
  input: JsonObject,
  { idempotencyKey = crypto.randomUUID(), ...options }: RunToEndOptions = {},
): Promise<RunStatus> {
  const { runId } = await client.startRun(
    agentId,
    { input },
    { ...(options.signal && { signal: options.signal }), idempotencyKey },
  )
  return followRun(client, runId, options)
}

/**
 * Follows a run to its end, calling `onTask` for each task. Returns the run's status, which is a waiting one if `onTask` left a
 * task open. A failed run is a result, not an error.
 * @throws SvcError with status 202 when an answer is refused
 */
export async function followRun(
  client: SvcClient,
  runId: string,
  { onEvent, ...options }: FollowRunOptions = {},
): Promise<RunStatus> {
  if (!onEvent) return decide(client, runId, options)
  const reading = new AbortController()
  const stop = (): void => reading.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', stop, { once: true })
  const events = readEvents(client, runId, onEvent, reading.signal)
  // Looked at where the run has ended; a failure before that must not count as unhandled.
  events.catch(() => undefined)
  try {
    const run = await decide(client, runId, options)
    if (isTerminal(run.status)) await events
    return run
  } finally {
    options.signal?.removeEventListener('abort', stop)
    reading.abort()
  }
}

async function readEvents(
  client: SvcClient,
  runId: string,
  onEvent: (event: StreamEvent) => void,
  signal: PlatformSignal,
): Promise<void> {
  for await (const event of client.streamRunEvents(runId, { signal })) onEvent(event)
}

async function decide(
  client: SvcClient,
  runId: string,
  { onTask, onReply, signal }: FollowRunOptions,
): Promise<RunStatus> {
  const per = signal ? { signal } : {}
  const decided = new Set<string>()
  let lookMs = FIRST_LOOK_MS

  for (;;) {
    const run = await waitForRun(client, runId, per)
    if (isTerminal(run.status)) return run
    if (run.status === 'WaitingForResponse') {
      const text = await onReply?.(run)
      if (text === undefined) return run
      accept(runId, await client.sendRunMessage(runId, { text }, onceOnly(per)))
      continue
    }
    const pending = await pendingTasksOf(client, run, per)
    const ours = pending.filter((task) => task.apiCompletable && !decided.has(task.userTaskId))
    for (const task of ours) {
      const decision = await onTask?.(task)
      if (decision === undefined) return run
      accept(runId, await answerTask(client, runId, task, decision, onceOnly(per)))
      decided.add(task.userTaskId)
    }
    if (ours.length > 0) {
      lookMs = FIRST_LOOK_MS
      continue
    }
    if (!onTask) return run
    // The next approver, an operator or another agent has the word.
    await sleepUntil(lookMs, signal)
    lookMs = Math.min(lookMs * 2, LONGEST_LOOK_MS)
  }
}

/** An answer whose connection breaks is sent again, and counts once. */
const onceOnly = (per: RequestOptions): StartOptions => ({ ...per, ...PATIENCE, idempotencyKey: crypto.randomUUID() })

/** An answer by somebody else is not an error: the run continues either way. */
function accept(runId: string, answer: MessageAccepted): void {
  if (answer.error === undefined || answer.code === 'task_already_completed') return
  throw new SvcError({
    method: 'POST',
    status: 202,
    path: `/v1/runs/${runId}/messages`,
    body: JSON.stringify(answer),
  })
}
