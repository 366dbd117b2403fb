/** Stays with a run: shows what happens, brings its tasks before a person, and tells where it stopped. */
import {
  answerTask,
  isWaiting,
  pendingTasks,
  type RunStatus,
  type StreamEvent,
  type UserTask,
} from '../../client/index.ts'
import { safeText } from '../../terminal/text.ts'
import { createLiveTimeline } from '../../terminal/timeline.ts'
import { decideTask, type ApprovalSession } from './decide-task.ts'
import { answerOf, type WaitingTask, type ScriptedAnswers } from './decisions.ts'
import { talkScreen } from '../shell/list.ts'

export type OnTask = 'prompt' | 'wait' | 'exit' | 'reject'
export type FollowDetail = 'all' | 'steps' | 'text' | 'none'

export interface FollowOptions {
  readonly runId: string
  readonly onTask: OnTask
  readonly show: FollowDetail
  /** Every event goes to stdout as it comes, one line of JSON each. */
  readonly events: boolean
  readonly maxWaitMs?: number
  /** Answers before anybody is asked; `onTask` is for what it does not answer. */
  readonly rulebook?: ScriptedAnswers
}

/** Where following ended: the run has ended, waits for somebody (`task` where it is one), or `maxWaitMs` went by. */
export interface FollowEnd {
  readonly run: RunStatus
  readonly task?: UserTask
  readonly gaveUp: boolean
}

export async function followRun(desk: ApprovalSession, options: FollowOptions): Promise<FollowEnd> {
  const { call, client } = desk
  const { runId, onTask } = options
  const stop = new AbortController()
  const signal = AbortSignal.any([call.signal, stop.signal])
  const draw = createDrawing(desk, options)
  const seen = new Map<string, AbortController>()
  let left: FollowEnd | undefined
  let gaveUp = false
  let failure: unknown

  const leave = (run: RunStatus, task?: UserTask): void => {
    left = { run, gaveUp: false, ...(task && { task }) }
    stop.abort()
  }
  /** Looks at what the run waits for. What was handled already, or needs nobody any more, is passed over. */
  const look = async (): Promise<void> => {
    if (signal.aborted) return
    const run = await client.getRun(runId, { signal })
    if (!isWaiting(run.status)) return
    if (run.status === 'WaitingForResponse') return await reply(run)
    const pending = await pendingTasks(client, runId, { signal })
    if (pending.length === 0 && onTask !== 'wait') {
      // Where the trigger hides its timeline a key sees that the run waits, and never for what.
      const now = await client.getRun(runId, { signal })
      if (now.status === 'WaitingForHITL') leave(now)
      return
    }
    for (const task of pending) {
      if (seen.has(task.userTaskId) || signal.aborted) continue
      const closed = new AbortController()
      seen.set(task.userTaskId, closed)
      if (await answeredByRule(desk, options, task)) continue
      if (onTask === 'wait') {
        call.out.say(`waiting for ${describeTask(task)}`)
        continue
      }
      if (onTask === 'exit' || !(await handle(task, AbortSignal.any([signal, closed.signal]), closed.signal)))
        return leave(run, task)
    }
  }
  const handle = async (task: UserTask, closing: AbortSignal, closed: AbortSignal): Promise<boolean> => {
    if (onTask === 'reject') {
      if (task.kind !== 'approval' && task.kind !== 'escalation') return false
      const { error } = await answerTask(desk.answering, runId, task, {
        approved: false,
        comment: 'Rejected by --on-task reject.',
      })
      return error === undefined
    }
    try {
      return (await decideTask(desk, runId, task, closing)) !== 'later'
    } catch (error) {
      if (!closed.aborted) throw error
      call.out.say('  answered elsewhere')
      return true
    }
  }
  const reply = async (run: RunStatus): Promise<void> => {
    const asked = { id: `${runId} ${run.totalTokensUsed}`, kind: 'reply' }
    if (await applyRule(desk, options, asked, runId)) return
    if (onTask === 'wait') return
    if (onTask !== 'prompt') return leave(run)
    const text = (await call.io.prompts.text('Reply (empty: later):', signal)).trim()
    if (text === '') return leave(run)
    const { error } = await desk.answering.sendRunMessage(runId, { text }, { signal })
    if (error !== undefined) call.out.say(safeText(error))
  }

  const timer =
    options.maxWaitMs === undefined
      ? undefined
      : setTimeout(() => {
          gaveUp = true
          stop.abort()
        }, options.maxWaitMs)
  let looking = Promise.resolve()
  try {
    for await (const event of client.streamRunEvents(runId, { signal })) {
      await draw(event)
      closeTask(event, seen)
      // Reading goes on while a person thinks: the task may be closed elsewhere meanwhile.
      if (asksForSomebody(event, runId))
        looking = looking.then(look).catch((error: unknown) => {
          failure ??= error
          stop.abort()
        })
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    if (timer) clearTimeout(timer)
  }
  await looking
  if (failure !== undefined && !gaveUp) throw failure
  return left ?? { run: await client.getRun(runId), gaveUp }
}

const answeredByRule = (desk: ApprovalSession, options: FollowOptions, task: UserTask): Promise<boolean> =>
  applyRule(
    desk,
    options,
    {
      id: task.userTaskId,
      kind: task.kind,
      ...(task.content.tool && { tool: task.content.tool.ref }),
      ...(task.content.arguments !== undefined && { args: task.content.arguments }),
      ...(task.content.arguments_digest !== undefined && { argsDigest: task.content.arguments_digest }),
      ...(task.content.options && { options: task.content.options }),
    },
    task.runId,
  )

/** Sends what the rule says until none fits any more: each is the vote of a person of its own. */
async function applyRule(
  desk: ApprovalSession,
  options: FollowOptions,
  asked: WaitingTask,
  runId: string,
): Promise<boolean> {
  const { operator, call } = desk
  const { rulebook } = options
  const rule = rulebook?.choose(asked)
  if (!rule || !operator) return false
  rulebook!.use(rule, asked)
  const body = {
    ...answerOf(rule, asked),
    ...(asked.kind !== 'reply' && { userTaskId: asked.id }),
    ...(rule.as !== undefined && { as: rule.as }),
  }
  const { error } = await operator.call('POST /runs/:id/messages', { id: runId, body })
  call.out.say(
    error === undefined
      ? `  answered by a rule${rule.as === undefined ? '' : ` as ${safeText(rule.as)}`}`
      : safeText(error),
  )
  if (error !== undefined || asked.kind === 'reply') return error === undefined
  // A rule may have edited the arguments: the next one is about these.
  const { status, args = null, argsDigest } = await operator.call('GET /tasks/:id', { id: asked.id })
  const now = argsDigest === undefined ? asked : { ...asked, args, argsDigest }
  return status !== 'pending' || (await applyRule(desk, options, now, runId))
}

/** `approval of acme.refunds (task 9c1e77)`. */
export const describeTask = (task: UserTask): string =>
  `${task.kind}${task.content.tool ? ` of ${safeText(task.content.tool.ref)}` : ''} (task ${task.userTaskId.slice(-6)})`

const asksForSomebody = ({ subject, data }: StreamEvent, runId: string): boolean =>
  subject === 'engine.user_task.created' || (subject === 'engine.run.paused' && data.runId === runId)

const CLOSED = new Set(['engine.user_task.completed', 'engine.user_task.expired', 'engine.user_task.cancelled'])

function closeTask(event: StreamEvent, seen: ReadonlyMap<string, AbortController>): void {
  if (event.kind !== 'user_task' || !CLOSED.has(event.subject)) return
  seen.get(event.data.task?.user_task_id ?? '')?.abort()
}

function createDrawing(
  { call }: ApprovalSession,
  { runId, onTask, show, events }: FollowOptions,
): (event: StreamEvent) => Promise<void> {
  const screen = talkScreen(call)
  const timeline = createLiveTimeline(screen, runId)
  return async (event) => {
    if (events && call.mode.json) return await call.out.ndjson(event)
    if (show === 'none' || event.kind !== 'step' || !event.data.step) return
    const { type } = event.data.step
    if (show === 'text' && type !== 'Reasoning') return
    // Where a person is asked the card says more than the line.
    if (type === 'UserTaskReq' && onTask === 'prompt') return
    if (isToldAtStart(type) === (event.subject === 'engine.step.started'))
      screen.lines(...timeline.add(event.data.step))
  }
}

/** What stays open until others have worked is told when it begins; all else when it is done. */
export const isToldAtStart = (type: string): boolean => type === 'SubAgentCall' || type === 'UserTaskReq'
