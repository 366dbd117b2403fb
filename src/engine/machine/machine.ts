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
  draft: SessionTransaction,
  id: RunId,
  here: StateAt<A>,
  event: TransitionEventOf<T>,
) => RunState | undefined
type Table = { readonly [A in At]: { readonly [T in RunEventType]?: Move<A, T> } }

const cancel = (
  draft: SessionTransaction,
  id: RunId,
  _: RunState,
  { reason, by }: TransitionEventOf<'cancelled'>,
): RunState => {
  callOff(draft, id)
  return cancelledState(reason, by)
}
const giveUp = (
  draft: SessionTransaction,
  id: RunId,
  _: RunState,
  { errorCode }: TransitionEventOf<'broken'>,
): RunState => {
  callOff(draft, id)
  return errorCode === 'state_not_saved'
    ? failedState(errorCode, 'What happened to the run cannot be stored.')
    : failedState('internal', 'Something went wrong on our side.')
}
const stay = (): undefined => undefined

/** Every legal move, one line each. */
export const transitions: Table = {
  thinking: {
    started: (draft, id, here) => start(draft, id, here),
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
    'task.closed': (draft, id, here, { task }) =>
      task.about === 'limit' ? granted(draft, id, here, task) : applyTaskDecision(draft, id, here, task),
    'child.asked': childAsked,
    'question.answered': answeredQuestion,
    message: applyReply,
    'wall_clock.due': outOfTimeCalling,
    'hitl_wait.due': waitedTooLong,
    exhausted: (draft, id, _, { breach }) => haltRun(draft, id, breach),
    woken: (draft, id, here, { inFlight }) => recoverCalls(draft, id, here, inFlight),
    stopped: (draft, id, here, { inFlight }) => takeBack(draft, id, here, inFlight),
    cancelled: cancel,
    broken: giveUp,
  },
  held: {
    'task.closed': (draft, id, here, { task }) => {
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return refused(here.limit)
      // What an ancestor waited for was granted to the ancestor.
      if (task.runId === id) grantLimit(draft, id, here.limit)
      return goOn(draft, id, here.then)
    },
    woken: stay,
    cancelled: cancel,
    broken: giveUp,
  },
  reviewing: {
    'task.closed': (draft, id, here, { task }) => {
      if (task.about === 'limit') return granted(draft, id, here, task)
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return failedState('output_invalid', `The output is not valid: ${task.reason ?? ''}.`)
      const read = readOutput(draft.snapshot(id), task.answer.textValue ?? '')
      return 'value' in read ? completedState(read.value) : undefined
    },
    'hitl_wait.due': waitedTooLong,
    woken: stay,
    cancelled: cancel,
    broken: giveUp,
  },
  done: {
    'call.ended': (draft, id, _, event) => lateOutcome(draft, id, event),
    'task.closed': (draft, id, _, event) => reviewedLate(draft, id, event),
  },
}

/** Applies an event to a run: what it does is in the draft, the answer is the state after it. */
export function nextState(draft: SessionTransaction, id: RunId, event: RunTransitionEvent): RunState | undefined {
  const here = draft.run(id).state
  // The table is typed row by row; that the pair belongs together is what the lookup itself says.
  const move = transitions[here.at][event.type] as Move<At, RunEventType> | undefined
  return move?.(draft, id, here, event)
}

/** A run that begins says what it was asked, and asks the model. Source: decisions, section 4. */
function start(draft: SessionTransaction, id: RunId, here: StateAt<'thinking'>): RunState {
  const limit = draft.snapshot(id).limits.max_wall_clock_seconds
  if (limit !== undefined) draft.timer(id, 'wall_clock', '', draft.now + limit * 1000)
  const { input } = draft.run(id)
  draft.event(id, 'run', 'engine.run.started', { status: 'Running', output: null, error: null })
  const files = filesIn(input).map((filename): JsonObject => ({ filename }))
  draft.step(id, 'UserMessage', { text: firstMessage(input), ...(files.length > 0 && { files }) })
  return startTurn(draft, id, here.turn)
}

function goOn(draft: SessionTransaction, id: RunId, then: RunState): RunState {
  if (then.at === 'thinking') return startTurn(draft, id, then.turn, then.note)
  return then.at === 'calling' ? beginCalls(draft, id, then) : then
}

/** Where a run can be while it waits for a person, or a child of it does. */
type WaitingState = StateAt<'thinking' | 'backing_off' | 'calling' | 'reviewing'>

function ofLimit(
  draft: SessionTransaction,
  id: RunId,
  here: WaitingState,
  { task }: TransitionEventOf<'task.closed'>,
): RunState | undefined {
  return task.about === 'limit' ? granted(draft, id, here, task) : undefined
}

function outOfTime(
  draft: SessionTransaction,
  id: RunId,
  here: StateAt<'thinking' | 'backing_off'>,
): RunState | undefined {
  const breach = wallClock(draft, id)
  draft.timer(id, 'retry', '', null)
  if (!breach) return undefined
  const { turn, note } = here
  callOff(draft, id)
  return applyLimit(draft, id, breach, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })
}

/** Calls that are out are not called back for an operator: the limit is looked at again before the next completion. */
function outOfTimeCalling(draft: SessionTransaction, id: RunId): RunState | undefined {
  const breach = wallClock(draft, id)
  if (!breach || asksAboutLimit(draft, id, breach.limit)) return undefined
  return haltRun(draft, id, breach)
}

/** The run goes on waiting while an operator is asked: what it, or a child, waits for may still be answered. */
function waitedTooLong(draft: SessionTransaction, id: RunId, here: WaitingState): RunState | undefined {
  const breach = hitlWait(draft, id)
  if (!breach) return undefined
  if (!asksAboutLimit(draft, id, breach.limit)) {
    callOff(draft, id)
    return haltRun(draft, id, breach)
  }
  if (draft.tasks().some((task) => task.runId === id && task.about === 'limit')) return undefined
  escalateLimit(draft, id, breach)
  return here
}

/** An operator's word on a limit of a run that went on waiting, or whose descendants are held by it. */
function granted(draft: SessionTransaction, id: RunId, here: RunState, task: TaskRecord): RunState {
  const limit = task.context?.['limit'] as LimitName
  if (!task.answer?.approved) {
    callOff(draft, id)
    return refused(limit)
  }
  grantLimit(draft, id, limit)
  for (const run of draft.runs()) {
    if (run.state.at === 'held' && run.state.task === task.id) draft.tell(run.id, { type: 'task.closed', task })
  }
  return here.at === 'calling' ? proceedWithCalls(draft, id, here) : here
}

const refused = (limit: string): RunState =>
  failedState('limit_exceeded', `The limit ${limit} is reached, and an operator granted no more.`)
