/** Handles what a followed run waits for: by rules, as `--on-task` says, or by asking the person at the terminal. */
import { safeText } from '../../base/text/escape-text.ts'
import { isWaiting, pendingTasks, toAnswerBody, type RunStatus, type StreamEvent } from '../../client/index.ts'
import type { ShownTask } from '../../spec/task.ts'
import { readClientTask, readInboxItem } from '../../view/task/task-content.ts'
import { unlessLeft } from '../shell/io.ts'
import { decideTask } from './card/decide-task.ts'
import type { TaskPromptContext } from './card/open-decision.ts'
import { answerOf, type ScriptedAnswers, type WaitingTask } from '../../scenario/decisions.ts'
import type { EventDisplay } from './event-display.ts'

export type OnTask = 'prompt' | 'wait' | 'exit' | 'reject'

export interface WaitHandlerOptions {
  readonly runId: string
  readonly onTask: OnTask
  /** Answers tasks first; `onTask` applies to the rest. */
  readonly scriptedAnswers?: ScriptedAnswers
}

export interface WaitHandler {
  /** Handles what the run waits for now, except tasks that were handled before. */
  readonly handle: () => Promise<void>
  /** Closes the card of a task that was decided elsewhere. */
  closeTask(event: StreamEvent): void
}

/**
 * @param signal aborts following: nothing is asked after it
 * @param stopFollowing leaves the run waiting, for `task` where it is one
 */
export function createWaitHandler(
  session: TaskPromptContext<StreamEvent>,
  options: WaitHandlerOptions,
  {
    display,
    signal,
    stopFollowing,
  }: {
    readonly display: EventDisplay
    readonly signal: AbortSignal
    readonly stopFollowing: (run: RunStatus, task?: ShownTask) => void
  },
): WaitHandler {
  const { call, client } = session
  const { runId, onTask } = options
  /** Aborted when the task is closed. */
  const handled = new Map<string, AbortController>()

  const handle = async (): Promise<void> => {
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
      if (handled.has(task.id) || signal.aborted) continue
      const closed = new AbortController()
      handled.set(task.id, closed)
      if (!(await handleTask(task, closed.signal))) return stopFollowing(run, task)
    }
  }

  /** @returns false if the task is left as it is; following then ends */
  const handleTask = async (task: ShownTask, closed: AbortSignal): Promise<boolean> => {
    if (await applyRule(session, options, task, task.runId)) return true
    switch (onTask) {
      case 'wait':
        call.out.message(`waiting for ${describeTask(task)}`)
        return true
      case 'exit':
        return false
      case 'reject':
        return await rejectTask(task)
      case 'prompt':
        return await promptForTask(task, closed)
    }
  }

  const rejectTask = async (task: ShownTask): Promise<boolean> => {
    if (task.kind !== 'approval' && task.kind !== 'escalation') return false
    const decision = { approved: false, comment: 'Rejected by --on-task reject.' }
    const { error } = await session.answering.sendRunMessage(runId, toAnswerBody(task, decision))
    return error === undefined
  }

  const promptForTask = async (task: ShownTask, closed: AbortSignal): Promise<boolean> =>
    await display.holdDuring(async () => {
      try {
        const end = await decideTask(session, runId, task, AbortSignal.any([signal, closed]))
        if (end === 'answered' || end === 'gone') display.markTold(task.id)
        return end !== 'later'
      } catch (error) {
        if (!closed.aborted) throw error
        call.out.message('  answered elsewhere')
        return true
      }
    })

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

  return {
    handle,
    closeTask(event) {
      if (event.kind === 'user_task' && CLOSED.has(event.subject)) handled.get(event.data.task.user_task_id)?.abort()
    },
  }
}

const CLOSED = new Set(['engine.user_task.completed', 'engine.user_task.expired', 'engine.user_task.cancelled'])

/** Answers by rules until none matches: each rule is the vote of another person. */
async function applyRule(
  session: TaskPromptContext,
  options: WaitHandlerOptions,
  question: WaitingTask,
  runId: string,
): Promise<boolean> {
  const { operator, call } = session
  const { scriptedAnswers: rulebook } = options
  const rule = rulebook?.choose(question)
  if (!rulebook || !rule || !operator) return false
  rulebook.recordUse(rule, question)
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
