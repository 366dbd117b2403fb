/**
 * Completions that are not whole. None of their calls is made and their text is no answer: they are asked for again, go on in
 * another completion, or end the run. Source: decisions, section 13.
 */
import type { RunId } from '../../base/ids.ts'
import { PAUSED, type ModelCompletion } from '../../providers/provider.ts'
import type { ErrorCode, RunState } from '../../spec/run.ts'
import { textOf } from '../session/bindings.ts'
import { requestCompletion, startTurn } from '../calls/calls.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { failedState } from '../limits/ending.ts'
import { afterCompletion, applyLimit } from '../limits/limits.ts'
import { tokensLeft } from '../limits/reserve.ts'

type Thinking = Extract<RunState, { at: 'thinking' }>

/** Why a completion is not acted on, as its step and the run say it. */
export interface Shortfall {
  readonly kind: 'paused' | 'cut' | 'full' | 'withheld' | 'empty'
  readonly error: string
}

/** What a completion lacks; undefined for one that is whole. */
export function shortfallOf({ finishReason, text, calls }: ModelCompletion): Shortfall | undefined {
  switch (finishReason) {
    case 'stop':
    case 'tool_calls':
      return text.trim() === '' && calls.length === 0 ? { kind: 'empty', error: 'The answer is empty.' } : undefined
    case PAUSED:
      return { kind: 'paused', error: 'The provider paused the answer.' }
    case 'content_filter':
      return { kind: 'withheld', error: 'The provider withheld the answer: the model refused, or a filter did.' }
    case 'context':
      return { kind: 'full', error: 'The answer was cut: the context window of the model is full.' }
    case 'length':
      return { kind: 'cut', error: 'The answer was cut at its length.' }
  }
}

/** Where a run goes after such a completion, which is already booked. */
export function afterShortfall(
  tx: SessionTransaction,
  id: RunId,
  here: Thinking,
  { kind, error }: Shortfall,
  { usage }: ModelCompletion,
): RunState {
  const isPaused = kind === 'paused'
  const breach = afterCompletion(tx, id, isPaused)
  if (isPaused) {
    // Its provider called tools of its own, so it counts as an iteration: pauses without end are stopped like calls.
    tx.updateUsage(id, { iterations: tx.run(id).usage.iterations + (breach ? 0 : 1) })
    const next: Thinking = { at: 'thinking', turn: here.turn + 1, attempt: 1, ...(here.note && { note: here.note }) }
    return breach ? applyLimit(tx, id, breach, next) : startTurn(tx, id, next.turn, next.note)
  }
  if (kind === 'withheld') return failedState('completion_filtered', error)
  if (kind === 'full') return failedState('completion_truncated', error)
  if (kind === 'empty' && here.emptied) return failedState('model_error', 'The model gave an empty answer twice.')
  const again: Thinking | Failure =
    kind === 'empty' ? { ...here, attempt: here.attempt + 1, emptied: true } : withMoreRoom(tx, id, here, usage)
  if ('error' in again) return failedState(again.errorCode, again.error)
  return breach ? applyLimit(tx, id, breach, again) : requestCompletion(tx, id, again)
}

interface Failure {
  readonly errorCode: ErrorCode
  readonly error: string
}

/** The same completion once more, with twice the room or what is left of the token budgets. */
function withMoreRoom(
  tx: SessionTransaction,
  id: RunId,
  here: Thinking,
  usage: ModelCompletion['usage'],
): Thinking | Failure {
  const had = here.room ?? Math.max(tx.context.mostOutput(tx.snapshot(id)), usage.outputTokens)
  const cut = `The answer was cut at its length of ${had} tokens`
  if (here.room !== undefined)
    return {
      errorCode: 'completion_truncated',
      error: `${cut}, which was already more than the first time. Raise model.parameters.max_output_tokens, or ask for less.`,
    }
  const room = Math.min(2 * had, tokensLeft(tx, id) - usage.inputTokens)
  if (room <= had)
    return {
      errorCode: 'completion_truncated',
      error: `${cut}, and max_tokens_per_run leaves no room for a longer one.`,
    }
  return { ...here, attempt: here.attempt + 1, room }
}

/** The text of an answer whose provider paused it on the way: that of all its completions, the last being `text`. */
export function wholeText(tx: SessionTransaction, id: RunId, text: string): string {
  const before = tx
    .stepsOf(id)
    .filter(({ type, error }) => type === 'Reasoning' && error === null)
    .slice(0, -1)
  const parts: string[] = [text]
  for (const { content } of before.toReversed()) {
    if (content['finish_reason'] !== PAUSED) break
    parts.unshift(textOf(content['text']))
  }
  return parts.join('')
}
