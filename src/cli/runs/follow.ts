/** Follows a run: shows its events, asks a person to decide its tasks, and returns where it stopped. */
import { describeHold } from '../../spec/hold.ts'
import {
  isTerminal,
  isWaiting,
  pendingTasks,
  stepOf,
  toAnswerBody,
  type RunStatus,
  type StreamEvent,
} from '../../client/index.ts'
import type { ShownTask } from '../../spec/task.ts'
import { readClientTask, readInboxItem } from '../../spec/view/task-content.ts'
import { safeText } from '../../base/escape-text.ts'
import { createLiveTimeline } from '../../terminal/timeline.ts'
import { decideTask } from './card/decide-task.ts'
import type { TaskPromptContext } from './card/open-decision.ts'
import { createResultFilter } from './result-filter.ts'
import { isUnwatched, waitUnwatched } from './unwatched.ts'
import { answerOf, type WaitingTask, type ScriptedAnswers } from './decisions.ts'
import { unlessLeft } from '../shell/io.ts'
import { messageScreen } from '../shell/screen/list.ts'

export type OnTask = 'prompt' | 'wait' | 'exit' | 'reject'
export type FollowDetail = 'all' | 'steps' | 'text' | 'none'

export interface FollowOptions {
  readonly runId: string
  readonly onTask: OnTask
  readonly show: FollowDetail
  /** Every event goes to stdout as it comes, one line of JSON each. */
  readonly events: boolean
  readonly maxWaitMs?: number
  /** Answers tasks first; `onTask` applies to the rest. */
  readonly scriptedAnswers?: ScriptedAnswers
}

/** Why following ended: the run ended, it waits (for `task` where it is one), or `maxWaitMs` passed (`gaveUp`). */
export interface FollowEnd {
  readonly run: RunStatus
  readonly task?: ShownTask
  readonly gaveUp: boolean
}

export async function followRunOnScreen(
  session: TaskPromptContext<StreamEvent>,
  options: FollowOptions,
): Promise<FollowEnd> {
  const { call, client } = session
  const { runId, onTask } = options
  const stop = new AbortController()
  const signal = AbortSignal.any([call.signal, stop.signal])
  const draw = createDrawing(session, options)
  const results = createResultFilter(runId)
  const seen = new Map<string, AbortController>()
  /** Closed tasks whose card has told the outcome. */
  const told = new Set<string>()
  /** Events that came while a card was open: they are shown after it. */
  const held: StreamEvent[] = []
  let isCardOpen = false
  const show = (event: StreamEvent): void => {
    if (isCardOpen && !options.events) held.push(event)
    else draw(event, told)
  }
  let end: FollowEnd | undefined
  let gaveUp = false
  let failure: unknown

  const stopFollowing = (run: RunStatus, task?: ShownTask): void => {
    end = { run, gaveUp: false, ...(task && { task }) }
    stop.abort()
  }
  /** Handles what the run waits for, except tasks that were handled before. */
  const handleWaiting = async (): Promise<void> => {
    if (signal.aborted) return
    const run = await client.getRun(runId, { signal })
    if (!isWaiting(run.status)) return
    if (run.status === 'WaitingForResponse') return await handleReply(run)
    const pending = await pendingTasks(client, runId, { signal })
    if (pending.length === 0 && onTask !== 'wait') {
      // A trigger that hides its timeline shows a key that the run waits, but not the task.
      const now = await client.getRun(runId, { signal })
      if (now.status === 'WaitingForHITL') stopFollowing(now)
      return
    }
    for (const each of pending) {
      const task = readClientTask(each, session.agent)
      if (seen.has(task.id) || signal.aborted) continue
      const closed = new AbortController()
      seen.set(task.id, closed)
      if (await applyRule(session, options, task, task.runId)) continue
      if (onTask === 'wait') {
        call.out.message(`waiting for ${describeTask(task)}`)
        continue
      }
      if (onTask === 'exit' || !(await promptForTask(task, AbortSignal.any([signal, closed.signal]), closed.signal)))
        return stopFollowing(run, task)
    }
  }
  const promptForTask = async (task: ShownTask, closing: AbortSignal, closed: AbortSignal): Promise<boolean> => {
    if (onTask === 'reject') {
      if (task.kind !== 'approval' && task.kind !== 'escalation') return false
      const decision = { approved: false, comment: 'Rejected by --on-task reject.' }
      const { error } = await session.answering.sendRunMessage(runId, toAnswerBody(task, decision))
      return error === undefined
    }
    isCardOpen = true
    try {
      const end = await decideTask(session, runId, task, closing)
      if (end === 'answered' || end === 'gone') told.add(task.id)
      return end !== 'later'
    } catch (error) {
      if (!closed.aborted) throw error
      call.out.message('  answered elsewhere')
      return true
    } finally {
      for (let event = held.shift(); event; event = held.shift()) draw(event, told)
      isCardOpen = false
    }
  }
  const handleReply = async (run: RunStatus): Promise<void> => {
    const question = { id: `${runId} ${run.totalTokensUsed}`, kind: 'reply' }
    if (await applyRule(session, options, question, runId)) return
    if (onTask === 'wait') return
    if (onTask !== 'prompt') return stopFollowing(run)
    const text = (await unlessLeft(call.io.prompts.text('Reply (empty: later):', signal)))?.trim() ?? ''
    if (text === '') return stopFollowing(run)
    const { error } = await session.answering.sendRunMessage(runId, { text }, { signal })
    if (error !== undefined) call.out.message(safeText(error))
  }

  const timer =
    options.maxWaitMs === undefined
      ? undefined
      : setTimeout(() => {
          gaveUp = true
          stop.abort()
        }, options.maxWaitMs)
  let handling = Promise.resolve()
  let toldHold: string | undefined
  try {
    if (isUnwatched(options)) {
      const run = await waitUnwatched(client, runId, signal)
      if (run && isTerminal(run.status)) return { run, gaveUp: false }
      if (run) await handleWaiting()
      if (end) return end
    }
    for await (const event of client.streamRunEvents(runId, { signal })) {
      if (options.events && call.mode.json) await call.out.ndjson(event)
      else for (const each of results.add(event)) show(each)
      closeTask(event, seen)
      toldHold = tellHold(call, event, toldHold)
      // Keep reading events while a person decides: the task may be closed elsewhere.
      if (asksForSomebody(event, runId))
        handling = handling.then(handleWaiting).catch((error: unknown) => {
          failure ??= error
          stop.abort()
        })
    }
  } catch (error) {
    if (!stop.signal.aborted) {
      // The card gives the terminal back first.
      await handling
      throw error
    }
  } finally {
    if (timer) clearTimeout(timer)
    results.end().forEach(show)
  }
  await handling
  if (failure !== undefined && !gaveUp) throw failure
  return end ?? { run: await client.getRun(runId), gaveUp }
}

/** Answers by rules until none matches: each rule is the vote of another person. */
async function applyRule(
  session: TaskPromptContext,
  options: FollowOptions,
  question: WaitingTask,
  runId: string,
): Promise<boolean> {
  const { operator, call } = session
  const { scriptedAnswers: rulebook } = options
  const rule = rulebook?.choose(question)
  if (!rule || !operator) return false
  rulebook!.recordUse(rule, question)
  const body = {
    ...answerOf(rule, question),
    ...(rule.as !== undefined && { as: rule.as }),
  }
  const { error } = await operator.call('POST /runs/:id/messages', { id: runId, body })
  call.out.message(
    error === undefined
      ? `  answered by a rule${rule.as === undefined ? '' : ` as ${safeText(rule.as)}`}`
      : safeText(error),
  )
  if (error !== undefined || question.kind === 'reply') return error === undefined
  // A rule may edit the arguments: the next one is matched against the edited ones.
  const now = readInboxItem(await operator.call('GET /tasks/:id', { id: question.id }))
  return now.status !== 'pending' || (await applyRule(session, options, now, runId))
}

/** `approval of acme.refunds (task 9c1e77)`. */
export const describeTask = (task: ShownTask): string =>
  `${task.kind}${task.tool ? ` of ${safeText(task.tool.ref)}` : ''} (task ${task.id.slice(-6)})`

const asksForSomebody = ({ subject, data }: StreamEvent, runId: string): boolean =>
  subject === 'engine.user_task.created' || (subject === 'engine.run.paused' && data.runId === runId)

/**
 * Says why a run does nothing, so that who watches it does not take it for hanging. A message to a held run repeats the event.
 * @returns what was said last
 */
function tellHold(
  { out }: TaskPromptContext['call'],
  { subject, data }: StreamEvent,
  told: string | undefined,
): string | undefined {
  const { hold } = data as { readonly hold?: RunStatus['hold'] }
  if (subject !== 'engine.run.paused' || !hold) return told
  const text = `held ${describeHold(hold)}`
  if (text !== told) out.message(text)
  return text
}

const CLOSED = new Set(['engine.user_task.completed', 'engine.user_task.expired', 'engine.user_task.cancelled'])

function closeTask(event: StreamEvent, seen: ReadonlyMap<string, AbortController>): void {
  if (event.kind !== 'user_task' || !CLOSED.has(event.subject)) return
  seen.get(event.data.task.user_task_id)?.abort()
}

function createDrawing(
  { call }: TaskPromptContext<StreamEvent>,
  { runId, onTask, show }: FollowOptions,
): (event: StreamEvent, told: ReadonlySet<string>) => void {
  const screen = messageScreen(call)
  const timeline = createLiveTimeline(screen, runId)
  return (event, told) => {
    const step = stepOf(event)
    if (show === 'none' || !step) return
    if (show === 'text' && step.type !== 'Reasoning') return
    // The approval card, drawn next, shows the details.
    if (step.type === 'UserTaskReq' && onTask === 'prompt') return
    if (step.type === 'UserTaskRes' && step.content && told.has(step.content.user_task_id)) return
    if (isShownAtStart(step.type) === (event.subject === 'engine.step.started')) screen.lines(...timeline.add(step))
  }
}

/** Delegations and tasks are shown when they start, since they stay open for long; other steps when they end. */
export const isShownAtStart = (type: string): boolean => type === 'SubAgentCall' || type === 'UserTaskReq'
