/**
 * Calls of the client for which an agent stands, as completions of its run. From here on they are calls like those of a model.
 * Source: docs/design/gate.md#calls-that-overlap
 */
import type { ModelCall, ModelCompletion } from '../../providers/provider.ts'
import type { RunState, ToolCall } from '../../spec/run/run.ts'
import { joinTurn } from '../calls/calls.ts'
import { IDLE_END_MS } from '../limits/await-client.ts'
import { completedState } from '../limits/ending.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { addReasoning, applyCompletion } from './completion.ts'

/** A call that begins a turn. */
export function completeByCall(
  run: RunHandle,
  here: StateAt<'thinking'>,
  { call }: TransitionEventOf<'called'>,
): RunState | undefined {
  if (here.outside === undefined) return undefined
  const { turn, attempt } = here
  return applyCompletion(run, here, { type: 'model.answered', turn, attempt, completion: completionOf(call) })
}

/** A call that arrives while others are under way joins their turn, so that it waits for none of them. */
export function joinCalls(run: RunHandle, here: StateAt<'calling'>, { call }: TransitionEventOf<'called'>): RunState {
  addReasoning(run, run.snapshot.model, completionOf(call))
  return joinTurn(run, { ...here, calls: withoutSettled(here.calls) }, call)
}

/**
 * Settled calls are recorded as rows, so the turn need not keep them, however long another call lets it last. The newest stays: the
 * next index follows from it.
 */
const withoutSettled = (calls: readonly ToolCall[]): readonly ToolCall[] =>
  calls.filter(({ state }, at) => state.at !== 'settled' || at === calls.length - 1)

const completionOf = (call: ModelCall): ModelCompletion => ({
  text: '',
  calls: [call],
  finishReason: 'tool_calls',
  usage: { inputTokens: 0, outputTokens: 0 },
})

/** Completes a run whose client has gone. */
export const endIdle = (run: RunHandle, here: StateAt<'thinking'>): RunState | undefined =>
  here.outside !== undefined && run.tx.now >= here.outside + IDLE_END_MS ? completedState(null) : undefined

/** Completes a run that waits for its client: the next call begins one of the version that is deployed. */
export const endOutdated = (_: RunHandle, here: StateAt<'thinking'>): RunState | undefined =>
  here.outside === undefined ? undefined : completedState(null)
