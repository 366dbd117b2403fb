/**
 * The machine of a run.
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
 *   done             from everywhere: cancelled, a limit that halts, what cannot be mended
 *
 * A pair that is not listed in the table is refused: `next` answers undefined and nothing has changed.
 */
import type { RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { LimitName, RunState } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import {
  answeredQuestion,
  callEnded,
  childAsked,
  childEnded,
  applyTaskDecision,
  lateOutcome,
  proceedWithCalls,
  applyReply,
  reviewedLate,
  takeBack,
  startTurn,
  recoverCalls,
} from '../calls/calls.ts'
import {
  admitCompletion,
  applyCompletion,
  beginCalls,
  leaveUnsent,
  lostCompletion,
  modelFailed,
  retryDue,
} from './completion.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { cancelledState, completedState, failedState } from '../limits/ending.ts'
import type { TransitionEventOf, RunTransitionEvent, RunEventType } from '../session/event.ts'
import { escalateLimit, grantLimit, haltRun, hitlWait, applyLimit, wallClock } from '../limits/limits.ts'
import { asksAboutLimit } from '../limits/on-limit.ts'
import { readOutput } from './output.ts'
import { filesIn, firstMessage } from '../session/prompt.ts'
import { callOff } from '../session/unanswered.ts'

type At = RunState['at']
type StateAt<A extends At> = Extract<RunState, { at: A }>
/** The next state; undefined when the event says nothing new here. */
type Move<A extends At, T extends RunEventType> = (
  tx: SessionTransaction,
  id: RunId,
  here: StateAt<A>,
  event: TransitionEventOf<T>,
) => RunState | undefined
type Table = { readonly [A in At]: { readonly [T in RunEventType]?: Move<A, T> } }

const cancel = (
  tx: SessionTransaction,
  id: RunId,
  _: RunState,
  { reason, by }: TransitionEventOf<'cancelled'>,
): RunState => {
  callOff(tx, id)
  return cancelledState(reason, by)
}
const giveUp = (
  tx: SessionTransaction,
  id: RunId,
  _: RunState,
  { errorCode }: TransitionEventOf<'broken'>,
): RunState => {
  callOff(tx, id)
  return errorCode === 'state_not_saved'
    ? failedState(errorCode, 'What happened to the run cannot be stored.')
    : failedState('internal', 'Something went wrong on our side.')
}
const stay = (): undefined => undefined

/** Every legal move, one line each. */
export const transitions: Table = {
  thinking: {
    started: (tx, id, here) => start(tx, id, here),
    'model.answered': applyCompletion,
    'model.failed': modelFailed,
    admitted: admitCompletion,
    'task.closed': ofLimit,
    'wall_clock.due': outOfTime,
    'hitl_wait.due': waitedTooLong,
    woken: lostCompletion,
    stopped: leaveUnsent,
    cancelled: cancel,
    broken: giveUp,
  },
  backing_off: {
    'retry.due': retryDue,
    'task.closed': ofLimit,
    'wall_clock.due': outOfTime,
    'hitl_wait.due': waitedTooLong,
    woken: retryDue,
    cancelled: cancel,
    broken: giveUp,
  },
  calling: {
    'call.ended': callEnded,
    admitted: proceedWithCalls,
    'child.ended': childEnded,
    'task.closed': (tx, id, here, { task }) =>
      task.about === 'limit' ? granted(tx, id, here, task) : applyTaskDecision(tx, id, here, task),
    'child.asked': childAsked,
    'question.answered': answeredQuestion,
    message: applyReply,
    'wall_clock.due': outOfTimeCalling,
    'hitl_wait.due': waitedTooLong,
    exhausted: (tx, id, _, { breach }) => haltRun(tx, id, breach),
    woken: (tx, id, here, { inFlight }) => recoverCalls(tx, id, here, inFlight),
    stopped: (tx, id, here, { inFlight }) => takeBack(tx, id, here, inFlight),
    cancelled: cancel,
    broken: giveUp,
  },
  held: {
    'task.closed': (tx, id, here, { task }) => {
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return refused(here.limit)
      // What an ancestor waited for was granted to the ancestor.
      if (task.runId === id) grantLimit(tx, id, here.limit)
      return goOn(tx, id, here.then)
    },
    woken: stay,
    cancelled: cancel,
    broken: giveUp,
  },
  reviewing: {
    'task.closed': (tx, id, here, { task }) => {
      if (task.about === 'limit') return granted(tx, id, here, task)
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return failedState('output_invalid', `The output is not valid: ${task.reason ?? ''}.`)
      const read = readOutput(tx.snapshot(id), task.answer.textValue ?? '')
      return 'value' in read ? completedState(read.value) : undefined
    },
    'hitl_wait.due': waitedTooLong,
    woken: stay,
    cancelled: cancel,
    broken: giveUp,
  },
  done: {
    'call.ended': (tx, id, _, event) => lateOutcome(tx, id, event),
    'task.closed': (tx, id, _, event) => reviewedLate(tx, id, event),
  },
}

/** Applies an event to a run: what it does is in the tx, the answer is the state after it. */
export function nextState(tx: SessionTransaction, id: RunId, event: RunTransitionEvent): RunState | undefined {
  const here = tx.run(id).state
  // The table is typed row by row; that the pair belongs together is what the lookup itself says.
  const move = transitions[here.at][event.type] as Move<At, RunEventType> | undefined
  return move?.(tx, id, here, event)
}

/** A run that begins says what it was asked, and asks the model. Source: decisions, section 4. */
function start(tx: SessionTransaction, id: RunId, here: StateAt<'thinking'>): RunState {
  const limit = tx.snapshot(id).limits.max_wall_clock_seconds
  if (limit !== undefined) tx.setTimer(id, 'wall_clock', '', tx.now + limit * 1000)
  const { input } = tx.run(id)
  tx.addEvent(id, 'run', 'engine.run.started', { status: 'Running', output: null, error: null })
  const files = filesIn(input).map((filename): JsonObject => ({ filename }))
  tx.addStep(id, 'UserMessage', { text: firstMessage(input), ...(files.length > 0 && { files }) })
  return startTurn(tx, id, here.turn)
}

function goOn(tx: SessionTransaction, id: RunId, then: RunState): RunState {
  if (then.at === 'thinking') return startTurn(tx, id, then.turn, then.note)
  return then.at === 'calling' ? beginCalls(tx, id, then) : then
}

/** Where a run can be while it waits for a person, or a child of it does. */
type WaitingState = StateAt<'thinking' | 'backing_off' | 'calling' | 'reviewing'>

function ofLimit(
  tx: SessionTransaction,
  id: RunId,
  here: WaitingState,
  { task }: TransitionEventOf<'task.closed'>,
): RunState | undefined {
  return task.about === 'limit' ? granted(tx, id, here, task) : undefined
}

function outOfTime(tx: SessionTransaction, id: RunId, here: StateAt<'thinking' | 'backing_off'>): RunState | undefined {
  const breach = wallClock(tx, id)
  tx.setTimer(id, 'retry', '', null)
  if (!breach) return undefined
  const { turn, note } = here
  callOff(tx, id)
  return applyLimit(tx, id, breach, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })
}

/** Calls that are out are not called back for an operator: the limit is looked at again before the next completion. */
function outOfTimeCalling(tx: SessionTransaction, id: RunId): RunState | undefined {
  const breach = wallClock(tx, id)
  if (!breach || asksAboutLimit(tx, id, breach.limit)) return undefined
  return haltRun(tx, id, breach)
}

/** The run goes on waiting while an operator is asked: what it, or a child, waits for may still be answered. */
function waitedTooLong(tx: SessionTransaction, id: RunId, here: WaitingState): RunState | undefined {
  const breach = hitlWait(tx, id)
  if (!breach) return undefined
  if (!asksAboutLimit(tx, id, breach.limit)) {
    callOff(tx, id)
    return haltRun(tx, id, breach)
  }
  if (tx.pendingTasks().some((task) => task.runId === id && task.about === 'limit')) return undefined
  escalateLimit(tx, id, breach)
  return here
}

/** An operator's word on a limit of a run that went on waiting, or whose descendants are held by it. */
function granted(tx: SessionTransaction, id: RunId, here: RunState, task: TaskRecord): RunState {
  const limit = task.context?.['limit'] as LimitName
  if (!task.answer?.approved) {
    callOff(tx, id)
    return refused(limit)
  }
  grantLimit(tx, id, limit)
  for (const run of tx.runs()) {
    if (run.state.at === 'held' && run.state.task === task.id) tx.queueEvent(run.id, { type: 'task.closed', task })
  }
  return here.at === 'calling' ? proceedWithCalls(tx, id, here) : here
}

const refused = (limit: string): RunState =>
  failedState('limit_exceeded', `The limit ${limit} is reached, and an operator granted no more.`)
