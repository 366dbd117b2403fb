/** Applies completions: answers of the model, failures, retries and lost ones. */
import { backoffMs } from '../../base/retry.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { ModelCall, ModelCompletion } from '../../providers/provider.ts'
import { ATTEMPTS_BEFORE_HOLD, isHeldBy, mayEndByRestart } from '../../spec/run/outage.ts'
import type { RunState } from '../../spec/run/run.ts'
import type { SnapshotModel } from '../../spec/snapshot.ts'
import { beginCalls, proposeCalls } from '../calls/calls.ts'
import type { RunHandle, StateAt, StepOptions } from '../transaction/transaction.ts'
import { failedState } from '../limits/ending.ts'
import type { TransitionEventOf } from '../session/event.ts'
import { completionKey } from '../session/keys.ts'
import { applyShortfall, shortfallOf, joinPausedAnswer } from './incomplete.ts'
import { backOff } from '../limits/back-off.ts'
import { findBreachAfterCompletion, haltRun, haltAncestor, applyLimit } from '../limits/limits.ts'
import { asksAboutLimit } from '../limits/on-limit.ts'
import { describeExpired, laterAttempt, nextAttempt } from '../limits/outage.ts'
import { requestCompletion, startTurn } from '../limits/request-completion.ts'
import { concludeRun } from './output.ts'
import { summaryWanted } from '../prompt/prompt.ts'
import { applySummary } from './summary.ts'
import { answersQuestion, openQuestions, unansweredQuestions } from '../calls/open-questions.ts'
import { escalateQuestion, refuseUntilAnswered, waitForEscalated } from '../calls/questions.ts'
import { CallHandle } from '../transaction/call-handle.ts'
import { estimateSent, recordUnanswered } from '../limits/unanswered.ts'
import { countCompletion } from '../transaction/usage.ts'

export function applyCompletion(
  run: RunHandle,
  here: StateAt<'thinking'>,
  event: TransitionEventOf<'model.answered'>,
): RunState | undefined {
  if (event.turn !== here.turn || event.attempt !== here.attempt) return undefined
  if (summaryWanted(here.note)) return applySummary(run, here, event)
  const { completion, fallback } = event
  const shortfall = shortfallOf(completion)
  const calls = shortfall ? [] : withUniqueIds(run, here.turn, completion.calls)
  const model = fallback?.model ?? run.snapshot.model
  addReasoning(
    run,
    model,
    { ...completion, calls },
    {
      ...(event.askedAt !== undefined && { startedAt: event.askedAt }),
      // A step with an error is left out of the transcript; a paused one must stay, because the answer continues it.
      ...(shortfall && shortfall.kind !== 'paused' && { error: shortfall.error }),
    },
    fallback && { fallback_after: fallback.after.map((each): JsonObject => ({ ...each })) },
  )
  // Not halted when the budget is used up exactly: the answer may be the last one needed.
  if (haltAncestor(run, (used, value) => used > value)) return { ...here, unsent: true }
  if (shortfall) return applyShortfall(run, here, shortfall, completion)
  const waiting = handleOpenQuestions(run, here, calls)
  if (waiting) return waiting
  const breach = findBreachAfterCompletion(run, calls.length > 0)
  if (calls.length > 0) {
    const calling = proposeCalls(run, here.turn, calls)
    if (breach) run.setState(calling)
    return breach ? applyLimit(run, breach, calling) : beginCalls(run, calling)
  }
  if (breach && !asksAboutLimit(run, breach.limit)) return haltRun(run, breach)
  // The answer does not take up messages that came meanwhile, so another completion is requested.
  if (run.usage.steering) return startTurn(run, here.turn + 1)
  const next = concludeRun(run, here.turn, joinPausedAnswer(run, completion.text), here.note?.['repair'] === true)
  // A final answer that exceeded a limit waits for the grant, and is then the output.
  return breach && next.at === 'done' && next.outcome === 'completed' ? applyLimit(run, breach, next) : next
}

/** Records a completion and counts what it used. @param more what the step says beside the completion */
export function addReasoning(
  run: RunHandle,
  model: SnapshotModel,
  { text, finishReason, usage, calls, hidden, servedBy }: ModelCompletion,
  options: StepOptions = {},
  more: JsonObject = {},
): void {
  run.addStep(
    'Reasoning',
    {
      text,
      model: model.name,
      provider: model.provider,
      ...(servedBy !== undefined && { response_model: servedBy }),
      ...more,
      finish_reason: finishReason,
      ...countCompletion(run, model, usage),
      tool_calls: calls.map((call): JsonObject => ({ id: call.id, name: call.name, arguments: call.arguments })),
    },
    { tokens: usage.inputTokens + usage.outputTokens, ...(hidden && { hidden }), ...options },
  )
}

/**
 * Handles a completion that ignores questions of children: the first time its calls are refused with the reason; after that,
 * or if it makes no calls, the questions are escalated to a person and the run waits for its children.
 */
function handleOpenQuestions(
  run: RunHandle,
  here: StateAt<'thinking'>,
  given: readonly ModelCall[],
): RunState | undefined {
  if (openQuestions(run.tx.runs(), run.id).length === 0) return undefined
  const calling = proposeCalls(run, here.turn, given)
  const ignored = unansweredQuestions(run, calling.calls)
  if (ignored.length === 0) return undefined
  if (given.length > 0 && here.note?.['reminded'] !== true) {
    const calls = calling.calls.map((call) =>
      answersQuestion(call) ? call : refuseUntilAnswered(new CallHandle(run, here.turn, call), ignored),
    )
    const state = beginCalls(run, { ...calling, calls })
    return state.at === 'thinking' ? { ...state, note: { reminded: true } } : state
  }
  for (const question of ignored) escalateQuestion(run.tx, question)
  const firstOfChild = ignored.filter(({ child }, at) => ignored.findIndex((each) => each.child === child) === at)
  const waits = firstOfChild.map((question, at) => waitForEscalated(run, here.turn, question, given.length + at))
  return beginCalls(run, { ...calling, calls: [...calling.calls, ...waits] })
}

export function applyModelFailure(
  run: RunHandle,
  here: StateAt<'thinking'>,
  event: TransitionEventOf<'model.failed'>,
): RunState | undefined {
  if (event.turn !== here.turn || event.attempt !== here.attempt) return undefined
  const { model } = run.snapshot
  // The first failed attempt adds a step; later attempts of the held run that cost nothing add none.
  if (event.spent || !here.outage || !isHeldBy(here.outage))
    recordUnanswered(run, event.error, event.spent ?? { model, usage: { inputTokens: 0, outputTokens: 0 } })
  const { lost, room } = here
  const failures = here.attempt - (lost ?? 0)
  const next = { ...here, attempt: here.attempt + 1 }
  if (room !== undefined && !event.retryable)
    return failedState(
      'completion_truncated',
      `The answer was cut at its length. Asked for ${room} tokens: ${event.error}`,
    )
  if (event.outage) {
    const step = nextAttempt(run, here.outage, event.outage)
    if (step.outcome === 'wait') return backOff(run, next, step.until, step.outage)
    if (!step.expired || !here.outage) return failedState('model_error', event.error)
    return failedState('outage', describeExpired(here.outage, run.tx.now, event.error))
  }
  if (event.filtered) return failedState('completion_filtered', event.error)
  if (!event.retryable || failures >= ATTEMPTS_BEFORE_HOLD) return failedState('model_error', event.error)
  return backOff(run, next, run.tx.now + Math.round(backoffMs(failures + 1, run.tx.context.jitter)))
}

/**
 * Requests a completion again that was in flight when its process ended. The tokens it sent are counted by an estimate; how
 * much of the answer had arrived is not known any more. Source: docs/design/runs-and-recovery.md#after-a-crash
 */
export function recoverCompletion(
  run: RunHandle,
  here: StateAt<'thinking'>,
  { inFlight }: TransitionEventOf<'woken'>,
): RunState | undefined {
  if (here.outside !== undefined || inFlight.has(completionKey(run.id, here.turn, here.attempt))) return undefined
  if (here.unsent) return requestCompletion(run, here)
  const error = 'The server ended before the model had answered; the tokens that were sent are booked by an estimate.'
  recordUnanswered(run, error, estimateSent(run, here))
  return requestCompletion(run, { ...here, attempt: here.attempt + 1, lost: (here.lost ?? 0) + 1 })
}

/** Marks a completion as unsent that this process recorded and will not send: the next process does, and no tokens are counted. */
export function markUnsent(
  run: RunHandle,
  here: StateAt<'thinking'>,
  { inFlight }: TransitionEventOf<'stopped'>,
): RunState | undefined {
  if (here.unsent || inFlight.has(completionKey(run.id, here.turn, here.attempt))) return undefined
  const { reserved: _reserved, reservedCost: _cost, reservedPlan: _plan, ...wanted } = here
  return { ...wanted, unsent: true }
}

/** Requests a completion again that was held back. No tokens are counted: nothing was sent. */
export function applyHeldBack(
  run: RunHandle,
  here: StateAt<'thinking'>,
  { turn, attempt }: TransitionEventOf<'model.held_back'>,
): RunState | undefined {
  if (turn !== here.turn || attempt !== here.attempt || here.unsent) return undefined
  return requestCompletion(run, { ...here, attempt: attempt + 1, lost: (here.lost ?? 0) + 1 })
}

/** Requests a completion that waited for others in flight. */
export const admitCompletion = (run: RunHandle, here: StateAt<'thinking'>): RunState | undefined =>
  here.unsent && here.outside === undefined ? requestCompletion(run, here) : undefined

export function applyRetry(run: RunHandle, here: StateAt<'backing_off'>): RunState {
  if (run.tx.now >= here.until) return attemptAgain(run, here)
  // The timer that fired was of an earlier attempt, and has cleared that of the next one.
  run.setTimer('retry', '', here.until)
  return here
}

/** A process that starts may have the secret that was missing, or a larger plan. */
export const retryAtStart = (run: RunHandle, here: StateAt<'backing_off'>): RunState | undefined =>
  (here.outage && mayEndByRestart(here.outage)) || run.tx.now >= here.until ? attemptAgain(run, here) : undefined

export const retryAfterOutage = (
  run: RunHandle,
  here: StateAt<'backing_off'>,
  { cause }: TransitionEventOf<'outage.over'>,
): RunState | undefined => (here.outage?.cause === cause ? attemptAgain(run, here) : undefined)

/** An operator reports that the outage is over, so the run does not wait for its next attempt. */
export function retryNow(run: RunHandle, here: StateAt<'backing_off'>): RunState {
  run.setTimer('retry', '', null)
  const { until: _, ...wanted } = here
  return requestCompletion(run, { ...wanted, at: 'thinking' })
}

function attemptAgain(run: RunHandle, here: StateAt<'backing_off'>): RunState {
  const later = laterAttempt(run, here.outage)
  run.setTimer('retry', '', later ?? null)
  if (later !== undefined) return { ...here, until: later }
  const { until: _, ...wanted } = here
  return requestCompletion(run, { ...wanted, at: 'thinking' })
}

/** Makes the ids of calls unique in the run, since results are matched to calls by id. */
function withUniqueIds(run: RunHandle, turn: number, calls: readonly ModelCall[]): readonly ModelCall[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    const isTaken = call.id === '' || taken.has(call.id) || run.callRow(call.id) !== undefined
    const unique = isTaken ? `${call.id || 'call'}_${turn}_${index}` : call.id
    taken.add(unique)
    return { ...call, id: unique }
  })
}
