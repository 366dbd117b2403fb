/** Ends a run: ends its descendants, closes its open tasks and steps, and tells the parent. */
import type { RunId, TaskId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { ToolCall, ErrorCode, Run, RunState } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { isUnsafeCall } from '../session/bindings.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { openReview, OPTIONS_AFTER_END } from '../session/review.ts'
import { abandonCompletion } from '../session/unanswered.ts'
import { withWaitEnded } from '../session/waits.ts'

type Done = Extract<RunState, { at: 'done' }>

export const completedState = (output: JsonValue): Done => ({ at: 'done', outcome: 'completed', output })
export const failedState = (errorCode: ErrorCode, error: string): Done => ({
  at: 'done',
  outcome: 'failed',
  output: null,
  error,
  errorCode,
})
export const cancelledState = (reason: string | null, by?: string): Done => ({
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
export function endRun(tx: SessionTransaction, id: RunId, done: Done): void {
  const before = tx.run(id)
  for (const child of tx.childrenOf(id)) {
    if (child.state.at === 'done') continue
    abandonCompletion(tx, child.id)
    endRun(tx, child.id, cancelledState('The run that asked for it ended.'))
  }
  const inDoubt = closeOpenCalls(tx, before)
  closeDelegationSteps(tx, id)
  for (const task of tx.pendingTasks()) {
    if (task.runId === id || isAwaitedTask(before, task.id))
      tx.closeTask({ ...task, answer: { outcome: 'cancelled' } }, 'cancelled')
  }
  for (const { turn, call, review } of inDoubt)
    openReview(tx, id, turn, call, UNKNOWN_AT_END, OPTIONS_AFTER_END, review)
  if (done.outcome === 'completed') tx.addStep(id, 'Output', { output: done.output })
  const [status, eventName] = OUTCOME_NAMES[done.outcome]
  const error = done.error ?? null
  tx.putRun({
    ...tx.run(id),
    state: done,
    status,
    output: done.output,
    error,
    errorCode: done.errorCode ?? null,
    finishedAt: tx.now,
    usage: withWaitEnded(tx.run(id).usage, tx.now),
  })
  const { max_wall_clock_seconds: wallClock, max_hitl_wait_minutes: hitlWait } = tx.snapshot(id).limits
  if (before.state.at === 'backing_off') tx.setTimer(id, 'retry', '', null)
  if (wallClock !== undefined) tx.setTimer(id, 'wall_clock', '', null)
  if (hitlWait !== undefined) tx.setTimer(id, 'hitl_wait', '', null)
  const { cancelledBy } = done
  const result = { status, output: done.output, error }
  const shown = { ...result, ...(cancelledBy !== undefined && { cancelled_by: cancelledBy }) }
  tx.addStep(id, 'RunCompleted', shown, {
    silent: true,
    ...(error !== null && done.outcome === 'failed' && { error }),
  })
  tx.addEvent(id, 'run', `engine.run.${eventName}`, {
    ...result,
    errorCode: done.errorCode ?? null,
    ...(cancelledBy !== undefined && { cancelledBy }),
  })
  const { parentRunId, parentCallId } = before
  if (parentRunId === null) {
    tx.addStep(id, 'SessionCompleted', shown, {
      silent: true,
      ...(error !== null && done.outcome === 'failed' && { error }),
    })
    tx.addEvent(id, 'session', `engine.session.${eventName}`, result)
    return
  }
  tx.addEvent(parentRunId, 'run', 'engine.subagent.completed', {
    ...result,
    childRunId: id,
    agentName: before.agentName,
    depth: before.depth,
  })
  if (parentCallId !== null) tx.queueEvent(parentRunId, { type: 'child.ended', callId: parentCallId, child: id })
}

/** True for the root's task that asks a person an escalated question of this run. */
const isAwaitedTask = ({ state }: Run, task: TaskId): boolean =>
  state.at === 'calling' && state.calls.some((call) => call.state.at === 'awaiting' && call.state.task === task)

const UNKNOWN_AT_END = 'The run ended before the outcome was known.'

/** An unsafe call that may have happened, of a run that ends. */
interface UncertainCall {
  readonly turn: number
  readonly call: ToolCall
  /** The review that was open for it. */
  readonly review?: TaskRecord
}

/**
 * Records the final state of the calls that are not settled, and closes their steps.
 * @returns unsafe calls that may have happened, for an operator to review
 */
function closeOpenCalls(tx: SessionTransaction, run: Run): readonly UncertainCall[] {
  const here = run.state.at === 'held' ? run.state.then : run.state
  if (here.at !== 'calling') return []
  for (const call of here.calls) {
    if (call.state.at === 'settled') continue
    if (call.state.at === 'sent') tx.recordCall(run.id, here.turn, call, 'unknown')
    // A call that was never sent must not count as executed in later policy decisions.
    else if (call.state.at !== 'unknown' && call.state.at !== 'delegated')
      tx.recordCall(run.id, here.turn, call, call.inDoubt ? 'unknown' : 'skipped')
    const open = tx.lastStep(run.id, (step) => step.finishedAt === null && step.content['tool_call_id'] === call.id)
    if (open) {
      tx.closeStep(open, call.state.at === 'sent' ? UNKNOWN_AT_END : 'The run ended first.')
    }
  }
  return here.calls
    .filter(
      (call) => call.state.at === 'unknown' || (call.state.at === 'sent' && isUnsafeCall(tx.snapshot(run.id), call)),
    )
    .map((call) => {
      const review = tx.pendingTasks().find(({ id }) => call.state.at === 'unknown' && call.state.task === id)
      return { turn: here.turn, call, ...(review && { review }) }
    })
}

/** Closes delegation steps: one stays open until its child ends, even after its call was settled with a question of the child. */
function closeDelegationSteps(tx: SessionTransaction, id: RunId): void {
  for (const child of tx.childrenOf(id)) {
    const open = tx.lastStep(
      id,
      ({ type, finishedAt, content }) =>
        type === 'SubAgentCall' && finishedAt === null && content['child_run_id'] === child.id,
    )
    if (open) tx.closeStep(open, 'The run ended first.')
  }
}
