/**
 * The state machine of a run.
 *
 *   started
 *      |           model.failed                calls
 *      v          .------------> backing_off
 *   thinking <----'  retry.due ------'
 *    |  |  ^
 *    |  |  '--- every call has its result ---.
 *    |  '------ model.answered, with calls --> calling      each call: proposed -> ready -> sent -> settled
 *    |                                          |                          |                 |
 *    |  model.answered, no calls                |                          '-> awaiting      '-> unknown
 *    |                                          |                          '-> delegated, listening, asking
 *    |--> reviewing  (output not valid, before an operator)
 *    |--> held       (a limit, before an operator; goes on to what it held)
 *    v
 *   done             from every state: cancelled, a limit that halts, an error that cannot be recovered
 *
 * Pairs of state and event that are not in the table are ignored: `nextState` returns undefined and nothing changes.
 */
import type { RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { LimitName, RunState } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import {
  applyQuestionAnswer,
  applyCallOutcome,
  applyChildQuestion,
  applyChildEnd,
  applyTaskDecision,
  applyLateOutcome,
  proceedWithCalls,
  applyReply,
  applyLateReview,
  revertUnsent,
  startTurn,
  recoverCalls,
} from '../calls/calls.ts'
import {
  admitCompletion,
  applyCompletion,
  beginCalls,
  leaveUnsent,
  recoverCompletion,
  applyModelFailure,
  applyRetry,
} from './completion.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { cancelledState, completedState, failedState } from '../limits/ending.ts'
import type { TransitionEventOf, RunTransitionEvent, RunEventType } from '../session/event.ts'
import { applyLimit, escalateLimit, grantLimit, haltRun, hitlWaitBreach, wallClockBreach } from '../limits/limits.ts'
import { asksAboutLimit } from '../limits/on-limit.ts'
import { readOutput } from './output.ts'
import { filesIn, firstMessage } from '../session/prompt.ts'
import { abandonCompletion } from '../session/unanswered.ts'

type At = RunState['at']
type StateAt<A extends At> = Extract<RunState, { at: A }>
/** The next state; undefined when the event does not apply. */
type Transition<A extends At, T extends RunEventType> = (
  tx: SessionTransaction,
  id: RunId,
  here: StateAt<A>,
  event: TransitionEventOf<T>,
) => RunState | undefined
type Table = { readonly [A in At]: { readonly [T in RunEventType]?: Transition<A, T> } }

const cancel = (
  tx: SessionTransaction,
  id: RunId,
  _: RunState,
  { reason, by }: TransitionEventOf<'cancelled'>,
): RunState => {
  abandonCompletion(tx, id)
  return cancelledState(reason, by)
}
const failBroken = (
  tx: SessionTransaction,
  id: RunId,
  _: RunState,
  { errorCode }: TransitionEventOf<'broken'>,
): RunState => {
  abandonCompletion(tx, id)
  return errorCode === 'state_not_saved'
    ? failedState(errorCode, 'What happened to the run cannot be stored.')
    : failedState('internal', 'Something went wrong on our side.')
}
const stay = (): undefined => undefined

/** All legal transitions, one line each. */
export const transitions: Table = {
  thinking: {
    started: (tx, id, here) => startRun(tx, id, here),
    'model.answered': applyCompletion,
    'model.failed': applyModelFailure,
    admitted: admitCompletion,
    'task.closed': applyLimitDecision,
    'wall_clock.due': applyWallClock,
    'hitl_wait.due': applyHitlWait,
    woken: recoverCompletion,
    stopped: leaveUnsent,
    cancelled: cancel,
    broken: failBroken,
  },
  backing_off: {
    'retry.due': applyRetry,
    'task.closed': applyLimitDecision,
    'wall_clock.due': applyWallClock,
    'hitl_wait.due': applyHitlWait,
    woken: applyRetry,
    cancelled: cancel,
    broken: failBroken,
  },
  calling: {
    'call.ended': applyCallOutcome,
    admitted: proceedWithCalls,
    'child.ended': applyChildEnd,
    'task.closed': (tx, id, here, { task }) =>
      task.about === 'limit' ? applyGrant(tx, id, here, task) : applyTaskDecision(tx, id, here, task),
    'child.asked': applyChildQuestion,
    'question.answered': applyQuestionAnswer,
    message: applyReply,
    'wall_clock.due': applyWallClockWhileCalling,
    'hitl_wait.due': applyHitlWait,
    exhausted: (tx, id, _, { breach }) => haltRun(tx, id, breach),
    woken: (tx, id, here, { inFlight }) => recoverCalls(tx, id, here, inFlight),
    stopped: (tx, id, here, { inFlight }) => revertUnsent(tx, id, here, inFlight),
    cancelled: cancel,
    broken: failBroken,
  },
  held: {
    'task.closed': (tx, id, here, { task }) => {
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return limitRefused(here.limit)
      // A limit of an ancestor was granted to the ancestor itself.
      if (task.runId === id) grantLimit(tx, id, here.limit)
      return resumeState(tx, id, here.then)
    },
    woken: stay,
    cancelled: cancel,
    broken: failBroken,
  },
  reviewing: {
    'task.closed': (tx, id, here, { task }) => {
      if (task.about === 'limit') return applyGrant(tx, id, here, task)
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return failedState('output_invalid', `The output is not valid: ${task.reason ?? ''}.`)
      const read = readOutput(tx.snapshot(id), task.answer.textValue ?? '')
      return 'value' in read ? completedState(read.value) : undefined
    },
    'hitl_wait.due': applyHitlWait,
    woken: stay,
    cancelled: cancel,
    broken: failBroken,
  },
  done: {
    'call.ended': (tx, id, _, event) => applyLateOutcome(tx, id, event),
    'task.closed': (tx, id, _, event) => applyLateReview(tx, id, event),
  },
}

/** Applies an event to a run. Its changes go into the transaction; the next state is returned, for the caller to set. */
export function nextState(tx: SessionTransaction, id: RunId, event: RunTransitionEvent): RunState | undefined {
  const here = tx.run(id).state
  // Each row of the table is typed by its own state and event, which the lookup has just matched.
  const transition = transitions[here.at][event.type] as Transition<At, RunEventType> | undefined
  return transition?.(tx, id, here, event)
}

/** Records the input and requests the first completion. Source: decisions, section 4. */
function startRun(tx: SessionTransaction, id: RunId, here: StateAt<'thinking'>): RunState {
  const limit = tx.snapshot(id).limits.max_wall_clock_seconds
  if (limit !== undefined) tx.setTimer(id, 'wall_clock', '', tx.now + limit * 1000)
  const { input } = tx.run(id)
  tx.addEvent(id, 'run', 'engine.run.started', { status: 'Running', output: null, error: null })
  const files = filesIn(input).map((filename): JsonObject => ({ filename }))
  tx.addStep(id, 'UserMessage', { text: firstMessage(input), ...(files.length > 0 && { files }) })
  return startTurn(tx, id, here.turn)
}

function resumeState(tx: SessionTransaction, id: RunId, then: RunState): RunState {
  if (then.at === 'thinking') return startTurn(tx, id, then.turn, then.note)
  return then.at === 'calling' ? beginCalls(tx, id, then) : then
}

/** States in which a run or its child may wait for a person. */
type WaitingState = StateAt<'thinking' | 'backing_off' | 'calling' | 'reviewing'>

function applyLimitDecision(
  tx: SessionTransaction,
  id: RunId,
  here: WaitingState,
  { task }: TransitionEventOf<'task.closed'>,
): RunState | undefined {
  return task.about === 'limit' ? applyGrant(tx, id, here, task) : undefined
}

function applyWallClock(
  tx: SessionTransaction,
  id: RunId,
  here: StateAt<'thinking' | 'backing_off'>,
): RunState | undefined {
  const breach = wallClockBreach(tx, id)
  tx.setTimer(id, 'retry', '', null)
  if (!breach) return undefined
  const { turn, note } = here
  abandonCompletion(tx, id)
  return applyLimit(tx, id, breach, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })
}

/** Calls in flight are not aborted to ask an operator: the limit is checked again before the next completion. */
function applyWallClockWhileCalling(tx: SessionTransaction, id: RunId): RunState | undefined {
  const breach = wallClockBreach(tx, id)
  if (!breach || asksAboutLimit(tx, id, breach.limit)) return undefined
  return haltRun(tx, id, breach)
}

/** The run keeps waiting while an operator is asked: the task it waits for may still be answered. */
function applyHitlWait(tx: SessionTransaction, id: RunId, here: WaitingState): RunState | undefined {
  const breach = hitlWaitBreach(tx, id)
  if (!breach) return undefined
  if (!asksAboutLimit(tx, id, breach.limit)) {
    abandonCompletion(tx, id)
    return haltRun(tx, id, breach)
  }
  if (tx.pendingTasks().some((task) => task.runId === id && task.about === 'limit')) return undefined
  escalateLimit(tx, id, breach)
  return here
}

/** Applies an operator's decision on a limit to a run that kept waiting, or whose descendants it holds. */
function applyGrant(tx: SessionTransaction, id: RunId, here: RunState, task: TaskRecord): RunState {
  const limit = task.context?.['limit'] as LimitName
  if (!task.answer?.approved) {
    abandonCompletion(tx, id)
    return limitRefused(limit)
  }
  grantLimit(tx, id, limit)
  for (const run of tx.runs()) {
    if (run.state.at === 'held' && run.state.task === task.id) tx.queueEvent(run.id, { type: 'task.closed', task })
  }
  return here.at === 'calling' ? proceedWithCalls(tx, id, here) : here
}

const limitRefused = (limit: string): RunState =>
  failedState('limit_exceeded', `The limit ${limit} is reached, and an operator granted no more.`)
