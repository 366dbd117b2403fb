/** Ends a run: ends its descendants, closes its open tasks and steps, and tells the parent. */
import type { TaskId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { isExternalModel } from '../../spec/external.ts'
import { undoneCallOf, type ErrorCode, type Run, type RunState, type ToolCall } from '../../spec/run/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { isUnsafeCall } from '../session/bindings.ts'
import { CallHandle } from '../transaction/call-handle.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { openReview, OPTIONS_AFTER_END } from '../review/review.ts'
import { abandonCompletion } from './unanswered.ts'
import { takeUpMessages } from './steering.ts'
import { withWaitEnded } from '../transaction/waits.ts'

export const completedState = (output: JsonValue): StateAt<'done'> => ({ at: 'done', outcome: 'completed', output })
export const failedState = (errorCode: ErrorCode, error: string): StateAt<'done'> => ({
  at: 'done',
  outcome: 'failed',
  output: null,
  error,
  errorCode,
})
export const cancelledState = (reason: string | null, by?: string): StateAt<'done'> => ({
  at: 'done',
  outcome: 'cancelled',
  output: null,
  error: reason ?? 'Cancelled.',
  errorCode: 'cancelled',
  ...(by !== undefined && { cancelledBy: by }),
})

const OUTCOME_NAMES = {
  completed: ['Completed', 'completed'],
  failed: ['Failed', 'failed'],
  cancelled: ['Cancelled', 'cancelled'],
} as const

/** Ends a run. Descendants end first, so that the last event of a session is that of its root. */
export function endRun(run: RunHandle, done: StateAt<'done'>): void {
  const { tx, record: before } = run
  for (const child of run.children()) {
    if (child.state.at === 'done') continue
    abandonCompletion(child)
    endRun(child, cancelledState('The run that asked for it ended.'))
  }
  takeUpMessages(run)
  const uncertain = closeOpenCalls(run)
  closeDelegationSteps(run)
  for (const task of tx.pendingTasks()) {
    if (task.runId === run.id || isAwaitedTask(before, task.id)) tx.cancelTask(task)
  }
  for (const { call, review } of uncertain) openReview(call, UNKNOWN_AT_END, OPTIONS_AFTER_END, review)
  if (done.outcome === 'completed') run.addStep('Output', { output: done.output })
  const [status, eventName] = OUTCOME_NAMES[done.outcome]
  const error = done.error ?? null
  run.update({
    state: done.outcome === 'completed' ? done : { ...done, from: stoppedAt(before.state) },
    status,
    output: done.output,
    error,
    errorCode: done.errorCode ?? null,
    finishedAt: tx.now,
    usage: withWaitEnded(run.usage, tx.now),
  })
  clearTimers(run, before)
  const { cancelledBy } = done
  const result = { status, output: done.output, error }
  const shown = { ...result, ...(cancelledBy !== undefined && { cancelled_by: cancelledBy }) }
  const stepOptions = { silent: true, ...(error !== null && done.outcome === 'failed' && { error }) }
  run.addStep('RunCompleted', shown, stepOptions)
  run.addEvent('run', `engine.run.${eventName}`, {
    ...result,
    errorCode: done.errorCode ?? null,
    ...(cancelledBy !== undefined && { cancelledBy }),
  })
  // An undoing run has no waiting parent: the run that made the call has ended.
  if (undoneCallOf(before)) return run.queueEvent({ type: 'undo.ended' })
  const parent = run.parent()
  if (!parent) {
    run.addStep('SessionCompleted', shown, stepOptions)
    run.addEvent('session', `engine.session.${eventName}`, result)
    return
  }
  const { agentName, depth, parentCallId } = before
  parent.addEvent('run', 'engine.subagent.completed', { ...result, childRunId: run.id, agentName, depth })
  if (parentCallId !== null) parent.queueEvent({ type: 'child.ended', callId: parentCallId, child: run.id })
}

/** The state from which the run can be resumed: taken before its calls are closed. */
const stoppedAt = (state: RunState): RunState => (state.at === 'held' ? state.then : state)

function clearTimers(run: RunHandle, { state }: Run): void {
  const { max_wall_clock_seconds: wallClock, max_hitl_wait_minutes: hitlWait } = run.snapshot.limits
  if (state.at === 'backing_off') run.setTimer('retry', '', null)
  if (isExternalModel(run.snapshot.model)) run.setTimer('idle', '', null)
  if (wallClock !== undefined) run.setTimer('wall_clock', '', null)
  if (hitlWait !== undefined) run.setTimer('hitl_wait', '', null)
}

/** True for the root's task that asks a person an escalated question of this run. */
const isAwaitedTask = ({ state }: Run, task: TaskId): boolean =>
  state.at === 'calling' && state.calls.some((call) => call.state.at === 'awaiting' && call.state.task === task)

const UNKNOWN_AT_END = 'The run ended before the outcome was known.'

/** True for a call that was sent and whose success is not known. */
const isUnderWay = ({ state }: ToolCall): boolean =>
  state.at === 'sent' || (state.at === 'waiting' && state.wait.kind === 'external')

/** An unsafe call that may have happened, of a run that ends. */
interface UncertainCall {
  readonly call: CallHandle
  /** The review that was open for it. */
  readonly review?: TaskRecord
}

/**
 * Records the final state of the calls that are not settled, and closes their steps.
 * @returns unsafe calls that may have happened, for an operator to review
 */
function closeOpenCalls(run: RunHandle): readonly UncertainCall[] {
  const here = run.state.at === 'held' ? run.state.then : run.state
  if (here.at !== 'calling') return []
  const calls = here.calls.map((record) => new CallHandle(run, here.turn, record))
  for (const call of calls) {
    const { id, state, inDoubt } = call.record
    if (state.at === 'settled') continue
    if (state.at === 'retrying') run.setTimer('retry', id, null)
    if (state.at === 'waiting') run.setTimer('call_wait', id, null)
    if (isUnderWay(call.record)) {
      call.recordAs('unknown')
      call.endEffect('unknown')
    }
    // A call that was never sent must not count as executed in later policy decisions.
    else if (state.at !== 'unknown' && state.at !== 'delegated') {
      call.recordAs(inDoubt ? 'unknown' : 'skipped')
      call.endEffect(inDoubt ? 'unknown' : 'not_made')
    }
    const open = run.lastStep((step) => step.finishedAt === null && step.content['tool_call_id'] === id)
    if (open) run.closeStep(open, isUnderWay(call.record) ? UNKNOWN_AT_END : 'The run ended first.')
  }
  return calls.flatMap((call) => {
    const { state } = call.record
    if (isUnderWay(call.record) && isUnsafeCall(run.snapshot, call.record)) return [{ call }]
    if (state.at !== 'unknown') return []
    const review = run.tx.pendingTasks().find(({ id }) => id === state.task)
    return [{ call, ...(review && { review }) }]
  })
}

/** Closes delegation steps: one stays open until its child ends, even after its call was settled with a question of the child. */
function closeDelegationSteps(run: RunHandle): void {
  for (const child of run.children()) {
    const open = run.lastStep(
      ({ type, finishedAt, content }) =>
        type === 'SubAgentCall' && finishedAt === null && content['child_run_id'] === child.id,
    )
    if (open) run.closeStep(open, 'The run ended first.')
  }
}
