/**
 * The state machine of a run.
 *
 *   started
 *      |           model.failed                calls
 *      v          .------------> backing_off
 *   thinking <----'  retry.due ------'
 *    |  |  ^
 *    |  |  '--- every call has its result ---.
 *    |  '------ model.answered, with calls --> calling      each call: `call-moves.ts` draws its states
 *    |            (or called, by a client)
 *    |
 *    |  model.answered, no calls
 *    |--> reviewing  (output not valid, before an operator)
 *    |--> held       (a limit, before an operator; goes on to what it held)
 *    v
 *   done             from every state: cancelled, a limit that halts, an error that cannot be recovered;
 *                    an operator may resume what did not complete, from the state in which it stopped
 *
 * Pairs of state and event that are not in the table are ignored: `nextState` returns undefined and nothing changes.
 */
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { LimitName, RunState } from '../../spec/run/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { beginCalls, proceedWithCalls } from '../calls/calls.ts'
import { callsToResume, retryCalls, retryCallsAfterOutage, retryCallsNow } from '../calls/outage.ts'
import { applyCallOutcome, applyLateOutcome } from '../calls/outcome.ts'
import { applyChildEnd, applyChildQuestion, applyQuestionAnswer, applyReply } from '../calls/replies.ts'
import { recoverCalls, revertUnsent } from '../calls/restart.ts'
import { askDuringCall } from '../calls/server-questions.ts'
import { applyLateReview, applyTaskDecision } from '../calls/task-decision.ts'
import {
  admitCompletion,
  applyCompletion,
  markUnsent,
  recoverCompletion,
  applyHeldBack,
  applyModelFailure,
  applyRetry,
  retryAfterOutage,
  retryAtStart,
  retryNow,
} from './completion.ts'
import { undoNext } from '../calls/steer/undo.ts'
import { applyCallWait, applyReport, applySignal } from '../calls/end-wait.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { cancelledState, completedState, failedState } from '../limits/ending.ts'
import type { TransitionEventOf, RunTransitionEvent, RunEventType } from '../session/event.ts'
import { applyLimit, escalateLimit, grantLimit, haltRun, hitlWaitBreach, wallClockBreach } from '../limits/limits.ts'
import { asksAboutLimit } from '../limits/on-limit.ts'
import { startTurn } from '../limits/request-completion.ts'
import { readOutput } from './output.ts'
import { completeByCall, endIdle, endOutdated, joinCalls } from './external.ts'
import { resumeRun } from './resume.ts'
import { migrateRun } from './migrate.ts'
import { steerCalls, steerCompletion } from './steer.ts'
import { chooseEarlier, countUnread, messagesBefore, roomForEarlier } from '../prompt/earlier.ts'
import { fileNamesIn, firstMessage } from '../prompt/input.ts'
import { sessionBefore } from '../prompt/prompt.ts'
import { abandonCompletion } from '../limits/unanswered.ts'

type At = RunState['at']
/** The next state; undefined when the event does not apply. */
type Transition<A extends At, T extends RunEventType> = (
  run: RunHandle,
  here: StateAt<A>,
  event: TransitionEventOf<T>,
) => RunState | undefined
type Table = { readonly [A in At]: { readonly [T in RunEventType]?: Transition<A, T> } }

const cancelRun = (run: RunHandle, _: RunState, { reason, by }: TransitionEventOf<'cancelled'>): RunState => {
  abandonCompletion(run)
  return cancelledState(reason, by)
}
const failRun = (run: RunHandle, _: RunState, { errorCode }: TransitionEventOf<'broken'>): RunState => {
  abandonCompletion(run)
  return errorCode === 'state_not_saved'
    ? failedState(errorCode, 'What happened to the run cannot be stored.')
    : failedState('internal', 'Something went wrong on our side.')
}
const changeNothing = (): undefined => undefined

/** All legal transitions, one line each. */
export const transitions: Table = {
  thinking: {
    started: startRun,
    'model.answered': applyCompletion,
    'model.failed': applyModelFailure,
    'model.held_back': applyHeldBack,
    steered: steerCompletion,
    admitted: admitCompletion,
    called: completeByCall,
    'idle.due': endIdle,
    outdated: endOutdated,
    'task.closed': applyLimitDecision,
    'wall_clock.due': applyWallClock,
    'hitl_wait.due': applyHitlWait,
    woken: recoverCompletion,
    stopped: markUnsent,
    migrated: migrateRun,
    cancelled: cancelRun,
    broken: failRun,
  },
  backing_off: {
    'retry.due': applyRetry,
    'outage.over': retryAfterOutage,
    resumed: retryNow,
    steered: steerCalls,
    'task.closed': applyLimitDecision,
    'wall_clock.due': applyWallClock,
    'hitl_wait.due': applyHitlWait,
    woken: retryAtStart,
    migrated: migrateRun,
    cancelled: cancelRun,
    broken: failRun,
  },
  calling: {
    'call.ended': applyCallOutcome,
    'call.asked': askDuringCall,
    called: joinCalls,
    admitted: proceedWithCalls,
    'effect_wait.due': proceedWithCalls,
    'call_wait.due': applyCallWait,
    signal: applySignal,
    'call.reported': applyReport,
    steered: steerCalls,
    'retry.due': (run, here) => retryCalls(run, here),
    'outage.over': retryCallsAfterOutage,
    resumed: retryCallsNow,
    'child.ended': applyChildEnd,
    'task.closed': (run, here, { task }) =>
      task.about === 'limit' ? applyGrant(run, here, task) : applyTaskDecision(run, here, task),
    'child.asked': applyChildQuestion,
    'question.answered': applyQuestionAnswer,
    message: applyReply,
    'wall_clock.due': applyWallClockWhileCalling,
    'hitl_wait.due': applyHitlWait,
    exhausted: (run, _, { breach }) => haltRun(run, breach),
    woken: (run, here, { inFlight }) => recoverCalls(run, here, inFlight),
    stopped: (run, here, { inFlight }) => revertUnsent(run, here, inFlight),
    migrated: migrateRun,
    cancelled: cancelRun,
    broken: failRun,
  },
  held: {
    'task.closed': (run, here, { task }) => {
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return failAtLimit(here.limit)
      // A limit of an ancestor was granted to the ancestor itself.
      if (task.runId === run.id) grantLimit(run, here.limit)
      return resumeHeld(run, here.then)
    },
    woken: changeNothing,
    migrated: migrateRun,
    cancelled: cancelRun,
    broken: failRun,
  },
  reviewing: {
    'task.closed': (run, here, { task }) => {
      if (task.about === 'limit') return applyGrant(run, here, task)
      if (task.id !== here.task) return undefined
      if (!task.answer?.approved) return failedState('output_invalid', `The output is not valid: ${task.reason ?? ''}.`)
      const read = readOutput(run.snapshot, task.answer.textValue ?? '')
      return 'value' in read ? completedState(read.value) : undefined
    },
    'hitl_wait.due': applyHitlWait,
    woken: changeNothing,
    migrated: migrateRun,
    cancelled: cancelRun,
    broken: failRun,
  },
  done: {
    resumed: resumeRun,
    'call.ended': (run, _, event) => applyLateOutcome(run, event),
    'task.closed': (run, _, event) => applyLateReview(run, event),
    'undo.ended': (run, here) => (here.outcome === 'completed' ? undoNext(run) : undefined),
  },
}

/** Applies an event to a run. Its changes go into the transaction; the next state is returned, for the caller to set. */
export function nextState(run: RunHandle, event: RunTransitionEvent): RunState | undefined {
  const here = run.state
  // Each row of the table is typed by its own state and event, which the lookup has just matched.
  const transition = transitions[here.at][event.type] as Transition<At, RunEventType> | undefined
  return transition?.(run, here, event)
}

/** Records the input and requests the first completion. Source: docs/design/models-and-tools.md#prompts */
function startRun(run: RunHandle, here: StateAt<'thinking'>): RunState {
  const limit = run.snapshot.limits.max_wall_clock_seconds
  if (limit !== undefined) run.setTimer('wall_clock', '', run.tx.now + limit * 1000)
  const { input } = run.record
  run.addEvent('run', 'engine.run.started', { status: 'Running', output: null, error: null })
  const files = fileNamesIn(input).map((filename): JsonObject => ({ filename }))
  const { tx, snapshot } = run
  const session = sessionBefore(run)
  const room = roomForEarlier(snapshot, tx.context.termsOf(snapshot.model))
  const earlier = chooseEarlier(messagesBefore(run.record, session), countUnread(run.record, session), room)
  run.addStep('UserMessage', {
    text: firstMessage(input) + shownMetadata(run),
    ...(files.length > 0 && { files }),
    ...(earlier && { earlier }),
  })
  return startTurn(run, here.turn)
}

/** The metadata of the session that the input contract names. Source: docs/design/models-and-tools.md#prompts */
function shownMetadata({ tx: { session }, snapshot, record }: RunHandle): string {
  const names = isJsonObject(snapshot.inputContract ?? null) && (snapshot.inputContract as JsonObject)['x-svc-metadata']
  const { metadata } = session
  if (record.parentRunId !== null || !Array.isArray(names) || !metadata) return ''
  const shown = names.flatMap((name) =>
    typeof name === 'string' && Object.hasOwn(metadata, name) ? [[name, metadata[name]]] : [],
  )
  return shown.length === 0 ? '' : `\n\nMetadata:\n${JSON.stringify(Object.fromEntries(shown), null, 2)}`
}

function resumeHeld(run: RunHandle, then: RunState): RunState {
  if (then.at === 'thinking') return startTurn(run, then.turn, then.note)
  if (then.at !== 'calling') return then
  // A limit held the run before its calls were decided, or while the calls were held themselves.
  const isBegun = then.calls.some(({ state, outage }) => state.at !== 'proposed' || outage)
  return isBegun ? proceedWithCalls(run, then) : beginCalls(run, then)
}

/** States in which a run or its child may wait for a person. */
type WaitingState = StateAt<'thinking' | 'backing_off' | 'calling' | 'reviewing'>

function applyLimitDecision(
  run: RunHandle,
  here: WaitingState,
  { task }: TransitionEventOf<'task.closed'>,
): RunState | undefined {
  return task.about === 'limit' ? applyGrant(run, here, task) : undefined
}

function applyWallClock(run: RunHandle, here: StateAt<'thinking' | 'backing_off'>): RunState | undefined {
  const breach = wallClockBreach(run)
  run.setTimer('retry', '', null)
  if (!breach) return undefined
  const { turn, note } = here
  abandonCompletion(run)
  return applyLimit(run, breach, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })
}

/** Interval at which a limit that was reached during calls is checked again, in case the calls become held. */
const LOOK_AGAIN_MS = 60_000

/**
 * Calls in flight are not aborted to ask an operator: the limit is checked again before the next completion. Where nothing is in
 * flight, because what the calls need is out of reach, the operator is asked at once.
 */
function applyWallClockWhileCalling(run: RunHandle, here: StateAt<'calling'>): RunState | undefined {
  const breach = wallClockBreach(run)
  if (!breach) return undefined
  if (!asksAboutLimit(run, breach.limit)) return haltRun(run, breach)
  const calls = callsToResume(run, here)
  if (calls) return applyLimit(run, breach, { ...here, calls })
  run.setTimer('wall_clock', '', run.tx.now + LOOK_AGAIN_MS)
  return here
}

/** The run keeps waiting while an operator is asked: the task it waits for may still be answered. */
function applyHitlWait(run: RunHandle, here: WaitingState): RunState | undefined {
  const breach = hitlWaitBreach(run)
  if (!breach) return undefined
  if (!asksAboutLimit(run, breach.limit)) {
    abandonCompletion(run)
    return haltRun(run, breach)
  }
  if (run.tx.pendingTasks().some((task) => task.runId === run.id && task.about === 'limit')) return undefined
  escalateLimit(run, breach)
  return here
}

/** Applies an operator's decision on a limit to a run that kept waiting, or whose descendants it holds. */
function applyGrant(run: RunHandle, here: RunState, task: TaskRecord): RunState {
  const limit = task.context?.['limit'] as LimitName
  if (!task.answer?.approved) {
    abandonCompletion(run)
    return failAtLimit(limit)
  }
  grantLimit(run, limit)
  for (const { id, state } of run.tx.runs()) {
    if (state.at === 'held' && state.task === task.id) run.tx.run(id).queueEvent({ type: 'task.closed', task })
  }
  return here.at === 'calling' ? proceedWithCalls(run, here) : here
}

const failAtLimit = (limit: string): RunState =>
  failedState('limit_exceeded', `The limit ${limit} is reached, and an operator granted no more.`)
