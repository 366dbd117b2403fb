/** Applies completions: answers of the model, failures, retries and lost ones. */
import { backoffMs } from '../../base/retry.ts'
import type { RunId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ModelCall } from '../../providers/provider.ts'
import type { RunState } from '../../spec/run.ts'
import { requestCompletion, proceedWithCalls, proposeCalls } from '../calls/calls.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { failedState } from '../limits/ending.ts'
import { completionKey, type TransitionEventOf } from '../session/event.ts'
import { afterShortfall, shortfallOf, wholeText } from './incomplete.ts'
import { afterCompletion, haltRun, haltAncestor, applyLimit } from '../limits/limits.ts'
import { asksAboutLimit } from '../limits/on-limit.ts'
import { concludeRun } from './output.ts'
import { sentTokens } from '../session/prompt.ts'
import {
  escalateQuestion,
  openQuestions,
  unansweredQuestions,
  refuseUntilAnswered,
  answersQuestion,
  toWaitingCall,
} from '../calls/questions.ts'
import { recordUnanswered } from '../session/unanswered.ts'
import { toStepUsage } from '../session/usage.ts'

type ThinkingRun = Extract<RunState, { at: 'thinking' }>
type BackingOff = Extract<RunState, { at: 'backing_off' }>

/** Attempts of one completion. Source: decisions, section 13: retried twice. */
const MAX_ATTEMPTS = 3

export function applyCompletion(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  event: TransitionEventOf<'model.answered'>,
): RunState | undefined {
  if (event.turn !== here.turn || event.attempt !== here.attempt) return undefined
  const { completion, fallback } = event
  const { usage } = tx.run(id)
  const shortfall = shortfallOf(completion)
  const calls = shortfall ? [] : withUniqueIds(tx, id, here.turn, completion.calls)
  tx.updateUsage(id, {
    inputTokens: usage.inputTokens + completion.usage.inputTokens,
    outputTokens: usage.outputTokens + completion.usage.outputTokens,
  })
  tx.addStep(
    id,
    'Reasoning',
    {
      text: completion.text,
      model: fallback?.model ?? tx.run(id).llmModel,
      ...(fallback && { fallback_after: fallback.after.map((each): JsonObject => ({ ...each })) }),
      finish_reason: completion.finishReason,
      usage: toStepUsage(completion.usage),
      tool_calls: calls.map((call): JsonObject => ({ id: call.id, name: call.name, arguments: call.arguments })),
    },
    {
      tokens: completion.usage.inputTokens + completion.usage.outputTokens,
      ...(completion.hidden && { hidden: completion.hidden }),
      // A step with an error is left out of the transcript; a paused one must stay, because the answer continues it.
      ...(shortfall && shortfall.kind !== 'paused' && { error: shortfall.error }),
    },
  )
  // Not halted when the budget is used up exactly: the answer may be the last one needed.
  if (haltAncestor(tx, id, (used, value) => used > value)) return { ...here, unsent: true }
  if (shortfall) return afterShortfall(tx, id, here, shortfall, completion)
  const waiting = handleOpenQuestions(tx, id, here, calls)
  if (waiting) return waiting
  const breach = afterCompletion(tx, id, calls.length > 0)
  if (calls.length > 0) {
    const calling = proposeCalls(tx, id, here.turn, calls)
    if (breach) tx.setState(id, calling)
    return breach ? applyLimit(tx, id, breach, calling) : beginCalls(tx, id, calling)
  }
  if (breach && !asksAboutLimit(tx, id, breach.limit)) return haltRun(tx, id, breach)
  const next = concludeRun(tx, id, here.turn, wholeText(tx, id, completion.text), here.note?.['repair'] === true)
  // A final answer that exceeded a limit waits for the grant, and is then the output.
  return breach && next.at === 'done' && next.outcome === 'completed' ? applyLimit(tx, id, breach, next) : next
}

/**
 * Handles a completion that ignores questions of children: the first time its calls are refused with the reason; after that,
 * or if it makes no calls, the questions are escalated to a person and the run waits for its children.
 */
function handleOpenQuestions(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  given: readonly ModelCall[],
): RunState | undefined {
  if (openQuestions(tx.runs(), id).length === 0) return undefined
  const calling = proposeCalls(tx, id, here.turn, given)
  const ignored = unansweredQuestions(tx, id, calling.calls)
  if (ignored.length === 0) return undefined
  if (given.length > 0 && here.note?.['reminded'] !== true) {
    const calls = calling.calls.map((call) =>
      answersQuestion(call) ? call : refuseUntilAnswered(tx, id, here.turn, call, ignored),
    )
    const state = beginCalls(tx, id, { ...calling, calls })
    return state.at === 'thinking' ? { ...state, note: { reminded: true } } : state
  }
  for (const question of ignored) escalateQuestion(tx, question)
  const firstOfChild = ignored.filter(({ child }, at) => ignored.findIndex((each) => each.child === child) === at)
  const waits = firstOfChild.map((question, at) => toWaitingCall(question, given.length + at))
  return beginCalls(tx, id, { ...calling, calls: [...calling.calls, ...waits] })
}

/** Counts an iteration and proceeds with the calls of a completion. */
export function beginCalls(tx: SessionTransaction, id: RunId, calling: ReturnType<typeof proposeCalls>): RunState {
  tx.updateUsage(id, { iterations: tx.run(id).usage.iterations + 1 })
  return proceedWithCalls(tx, id, calling)
}

export function applyModelFailure(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  event: TransitionEventOf<'model.failed'>,
): RunState | undefined {
  if (event.turn !== here.turn || event.attempt !== here.attempt) return undefined
  recordUnanswered(tx, id, event.error, event.usage ?? { inputTokens: 0, outputTokens: 0 })
  const { turn, lost, room, emptied, note } = here
  const failures = here.attempt - (lost ?? 0)
  if (room !== undefined && !event.retryable)
    return failedState(
      'completion_truncated',
      `The answer was cut at its length. Asked for ${room} tokens: ${event.error}`,
    )
  if (!event.retryable || failures >= MAX_ATTEMPTS) return failedState('model_error', event.error)
  const until = tx.now + Math.round(backoffMs(failures + 1, tx.context.jitter, event.retryAfterMs))
  tx.setTimer(id, 'retry', '', until)
  return {
    at: 'backing_off',
    turn,
    attempt: here.attempt + 1,
    ...(lost !== undefined && { lost }),
    until,
    ...(room !== undefined && { room }),
    ...(emptied && { emptied }),
    ...(note && { note }),
  }
}

/**
 * Requests a completion again that was in flight when its process ended. The tokens it sent are counted by an estimate; how
 * much of the answer had arrived is not known any more. Source: reliability, "The honest promise at kill -9".
 */
export function recoverCompletion(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  { inFlight }: TransitionEventOf<'woken'>,
): RunState | undefined {
  if (inFlight.has(completionKey(id, here.turn, here.attempt))) return undefined
  if (here.unsent) return requestCompletion(tx, id, here)
  const error = 'The server ended before the model had answered; the tokens that were sent are booked by an estimate.'
  recordUnanswered(tx, id, error, { inputTokens: sentTokens(tx, id, here), outputTokens: 0 })
  return requestCompletion(tx, id, { ...here, attempt: here.attempt + 1, lost: (here.lost ?? 0) + 1 })
}

/** Marks a completion as unsent that this process recorded and will not send: the next process does, and no tokens are counted. */
export function leaveUnsent(
  _tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  { inFlight }: TransitionEventOf<'stopped'>,
): RunState | undefined {
  if (here.unsent || inFlight.has(completionKey(id, here.turn, here.attempt))) return undefined
  const { reserved: _reserved, ...wanted } = here
  return { ...wanted, unsent: true }
}

/** Requests a completion that waited for others in flight. */
export const admitCompletion = (tx: SessionTransaction, id: RunId, here: ThinkingRun): RunState | undefined =>
  here.unsent ? requestCompletion(tx, id, here) : undefined

export function applyRetry(tx: SessionTransaction, id: RunId, here: BackingOff): RunState | undefined {
  if (tx.now < here.until) return undefined
  tx.setTimer(id, 'retry', '', null)
  const { until: _, ...wanted } = here
  return requestCompletion(tx, id, { ...wanted, at: 'thinking' })
}

/** Makes the ids of calls unique in the run, since results are matched to calls by id. */
function withUniqueIds(
  tx: SessionTransaction,
  id: RunId,
  turn: number,
  calls: readonly ModelCall[],
): readonly ModelCall[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    const isTaken = call.id === '' || taken.has(call.id) || tx.callRow(id, call.id) !== undefined
    const unique = isTaken ? `${call.id || 'call'}_${turn}_${index}` : call.id
    taken.add(unique)
    return { ...call, id: unique }
  })
}
