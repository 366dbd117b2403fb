/** What an answer of the model does to a run, and what its absence does. */
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
  passedOver,
  refuseUntilAnswered,
  takesUp,
  waitFor,
} from '../calls/questions.ts'
import { bookUnanswered } from '../session/unanswered.ts'

type ThinkingRun = Extract<RunState, { at: 'thinking' }>
type BackingOff = Extract<RunState, { at: 'backing_off' }>

/** Completions tried for one turn. Source: decisions, section 13: tried again twice. */
const MAX_ATTEMPTS = 3

export function applyCompletion(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  event: TransitionEventOf<'model.answered'>,
): RunState | undefined {
  if (event.turn !== here.turn || event.attempt !== here.attempt) return undefined
  const { completion } = event
  const { usage } = tx.run(id)
  const shortfall = shortfallOf(completion)
  const calls = shortfall ? [] : uniqueIds(tx, id, here.turn, completion.calls)
  tx.updateUsage(id, {
    inputTokens: usage.inputTokens + completion.usage.inputTokens,
    outputTokens: usage.outputTokens + completion.usage.outputTokens,
  })
  tx.addStep(
    id,
    'Reasoning',
    {
      text: completion.text,
      model: tx.run(id).llmModel,
      finish_reason: completion.finishReason,
      usage: { input_tokens: completion.usage.inputTokens, output_tokens: completion.usage.outputTokens },
      tool_calls: calls.map((call): JsonObject => ({ id: call.id, name: call.name, arguments: call.arguments })),
    },
    {
      tokens: completion.usage.inputTokens + completion.usage.outputTokens,
      ...(completion.hidden && { hidden: completion.hidden }),
      // With an error it is no part of the transcript; what was paused goes on there.
      ...(shortfall && shortfall.kind !== 'paused' && { error: shortfall.error }),
    },
  )
  // An answer that uses up the budget of an ancestor exactly may still be the last that it needed.
  if (haltAncestor(tx, id, (used, value) => used > value)) return { ...here, unsent: true }
  if (shortfall) return afterShortfall(tx, id, here, shortfall, completion)
  const passed = attend(tx, id, here, calls)
  if (passed) return passed
  const breach = afterCompletion(tx, id, calls.length > 0)
  if (calls.length > 0) {
    const calling = proposeCalls(tx, id, here.turn, calls)
    if (breach) tx.setState(id, calling)
    return breach ? applyLimit(tx, id, breach, calling) : beginCalls(tx, id, calling)
  }
  if (breach && !asksAboutLimit(tx, id, breach.limit)) return haltRun(tx, id, breach)
  const next = concludeRun(tx, id, here.turn, wholeText(tx, id, completion.text), here.note?.['repair'] === true)
  // A final answer that went beyond waits for the grant and is then the output.
  return breach && next.at === 'done' && next.outcome === 'completed' ? applyLimit(tx, id, breach, next) : next
}

/**
 * A completion that passes over questions of children: the first time its calls are refused with the reason; after that,
 * and when it calls nothing, the questions go to a person and the run waits for its children.
 */
function attend(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  given: readonly ModelCall[],
): RunState | undefined {
  if (openQuestions(tx.runs(), id).length === 0) return undefined
  const calling = proposeCalls(tx, id, here.turn, given)
  const passed = passedOver(tx, id, calling.calls)
  if (passed.length === 0) return undefined
  if (given.length > 0 && here.note?.['reminded'] !== true) {
    const calls = calling.calls.map((call) =>
      takesUp(call) ? call : refuseUntilAnswered(tx, id, here.turn, call, passed),
    )
    const state = beginCalls(tx, id, { ...calling, calls })
    return state.at === 'thinking' ? { ...state, note: { reminded: true } } : state
  }
  for (const question of passed) escalateQuestion(tx, question)
  const first = passed.filter(({ child }, at) => passed.findIndex((each) => each.child === child) === at)
  const waits = first.map((question, at) => waitFor(question, given.length + at))
  return beginCalls(tx, id, { ...calling, calls: [...calling.calls, ...waits] })
}

/** Carries out the calls of a completion that no limit forbids. */
export function beginCalls(tx: SessionTransaction, id: RunId, calling: ReturnType<typeof proposeCalls>): RunState {
  tx.updateUsage(id, { iterations: tx.run(id).usage.iterations + 1 })
  return proceedWithCalls(tx, id, calling)
}

export function modelFailed(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  event: TransitionEventOf<'model.failed'>,
): RunState | undefined {
  if (event.turn !== here.turn || event.attempt !== here.attempt) return undefined
  bookUnanswered(tx, id, event.error, event.usage ?? { inputTokens: 0, outputTokens: 0 })
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
 * A completion that was asked for by a process that is gone is asked for again. What the lost one sent is booked by an
 * estimate; how much of its answer had arrived is gone with the process. Source: reliability, "The honest promise at kill -9".
 */
export function lostCompletion(
  tx: SessionTransaction,
  id: RunId,
  here: ThinkingRun,
  { inFlight }: TransitionEventOf<'woken'>,
): RunState | undefined {
  if (inFlight.has(completionKey(id, here.turn, here.attempt))) return undefined
  if (here.unsent) return requestCompletion(tx, id, here)
  const error = 'The server ended before the model had answered; the tokens that were sent are booked by an estimate.'
  bookUnanswered(tx, id, error, { inputTokens: sentTokens(tx, id, here), outputTokens: 0 })
  return requestCompletion(tx, id, { ...here, attempt: here.attempt + 1, lost: (here.lost ?? 0) + 1 })
}

/** A completion that this process recorded and will not ask for: the next one does, and nothing is booked. */
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

/** A completion that waited for those in flight is asked for. */
export const admitCompletion = (tx: SessionTransaction, id: RunId, here: ThinkingRun): RunState | undefined =>
  here.unsent ? requestCompletion(tx, id, here) : undefined

export function retryDue(tx: SessionTransaction, id: RunId, here: BackingOff): RunState | undefined {
  if (tx.now < here.until) return undefined
  tx.setTimer(id, 'retry', '', null)
  const { until: _, ...wanted } = here
  return requestCompletion(tx, id, { ...wanted, at: 'thinking' })
}

/** Calls with ids that no earlier call of the run has: results are matched to calls by them. */
function uniqueIds(tx: SessionTransaction, id: RunId, turn: number, calls: readonly ModelCall[]): readonly ModelCall[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    const isTaken = call.id === '' || taken.has(call.id) || tx.callRow(id, call.id) !== undefined
    const unique = isTaken ? `${call.id || 'call'}_${turn}_${index}` : call.id
    taken.add(unique)
    return { ...call, id: unique }
  })
}
