/**
 * Incomplete completions. Their calls are not made and their text is no answer: they are requested again, continue in another
 * completion, or fail the run. Source: docs/design/models-and-tools.md#incomplete-completions
 */
import { PAUSE_TURN, type ModelCompletion } from '../../providers/provider.ts'
import type { ErrorCode, RunState } from '../../spec/run/run.ts'
import { textOf } from '../../base/json/json.ts'
import { requestCompletion, startTurn } from '../limits/request-completion.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { failedState } from '../limits/ending.ts'
import { findBreachAfterCompletion, applyLimit } from '../limits/limits.ts'
import { tokensLeft } from '../limits/reserve.ts'

/** Why a completion is incomplete, as the error of its step and of the run. */
export interface Shortfall {
  readonly kind: 'paused' | 'cut' | 'full' | 'withheld' | 'empty'
  readonly error: string
}

/** Why a completion is incomplete; undefined for a complete one. */
export function shortfallOf({ finishReason, text, calls }: ModelCompletion): Shortfall | undefined {
  switch (finishReason) {
    case 'stop':
    case 'tool_calls':
      return text.trim() === '' && calls.length === 0 ? { kind: 'empty', error: 'The answer is empty.' } : undefined
    case PAUSE_TURN:
      return { kind: 'paused', error: 'The provider paused the answer.' }
    case 'content_filter':
      return { kind: 'withheld', error: 'The provider withheld the answer: the model refused, or a filter did.' }
    case 'context':
      return { kind: 'full', error: 'The answer was cut: the context window of the model is full.' }
    case 'length':
      return { kind: 'cut', error: 'The answer was cut at its length.' }
  }
}

/** The state after an incomplete completion whose usage is already counted. */
export function applyShortfall(
  run: RunHandle,
  here: StateAt<'thinking'>,
  { kind, error }: Shortfall,
  { usage }: ModelCompletion,
): RunState {
  const isPaused = kind === 'paused'
  const breach = findBreachAfterCompletion(run, isPaused)
  if (isPaused) {
    // The provider called its own tools, so the pause counts as an iteration: endless pauses are stopped like endless calls.
    run.updateUsage({ iterations: run.usage.iterations + (breach ? 0 : 1) })
    const next: StateAt<'thinking'> = {
      at: 'thinking',
      turn: here.turn + 1,
      attempt: 1,
      ...(here.note && { note: here.note }),
    }
    return breach ? applyLimit(run, breach, next) : startTurn(run, next.turn, next.note)
  }
  if (kind === 'withheld') return failedState('completion_filtered', error)
  if (kind === 'full') return failedState('completion_truncated', error)
  if (kind === 'empty' && here.emptied) return failedState('model_error', 'The model gave an empty answer twice.')
  const again: StateAt<'thinking'> | RunFailureReason =
    kind === 'empty' ? { ...here, attempt: here.attempt + 1, emptied: true } : requestMoreTokens(run, here, usage)
  if ('error' in again) return failedState(again.errorCode, again.error)
  return breach ? applyLimit(run, breach, again) : requestCompletion(run, again)
}

interface RunFailureReason {
  readonly errorCode: ErrorCode
  readonly error: string
}

/** Requests the completion again with twice the output tokens, or as many as the token budgets leave. */
function requestMoreTokens(
  run: RunHandle,
  here: StateAt<'thinking'>,
  usage: ModelCompletion['usage'],
): StateAt<'thinking'> | RunFailureReason {
  const had = here.room ?? Math.max(run.tx.context.mostOutput(run.snapshot), usage.outputTokens)
  const cut = `The answer was cut at its length of ${had} tokens`
  if (here.room !== undefined)
    return {
      errorCode: 'completion_truncated',
      error: `${cut}, which was already more than the first time. Raise model.parameters.max_output_tokens, or ask for less.`,
    }
  const room = Math.min(2 * had, tokensLeft(run) - usage.inputTokens)
  if (room <= had)
    return {
      errorCode: 'completion_truncated',
      error: `${cut}, and max_tokens_per_run leaves no room for a longer one.`,
    }
  return { ...here, attempt: here.attempt + 1, room }
}

/** The text of an answer that its provider paused: the texts of all its completions, the last being `text`. */
export function joinPausedAnswer(run: RunHandle, text: string): string {
  const before = run
    .steps()
    .filter(({ type, error }) => type === 'Reasoning' && error === null)
    .slice(0, -1)
  const parts: string[] = [text]
  for (const { content } of before.toReversed()) {
    if (content['finish_reason'] !== PAUSE_TURN) break
    parts.unshift(textOf(content['text']))
  }
  return parts.join('')
}
