/** Completions without an answer. Their tokens count all the same, so that aborting one escapes no budget. */
import { completionKey } from '../session/keys.ts'
import { sentTokens } from '../prompt/prompt.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import type { SpentTokens } from '../session/event.ts'
import { countCompletion } from '../transaction/usage.ts'

/** Adds a failed `Reasoning` step and counts its tokens. */
export function recordUnanswered(run: RunHandle, error: string, { model, usage }: SpentTokens): void {
  const tokens = usage.inputTokens + usage.outputTokens
  run.addStep(
    'Reasoning',
    {
      text: '',
      model: model.name,
      provider: model.provider,
      finish_reason: 'error',
      ...countCompletion(run, model, usage),
      tool_calls: [],
    },
    { error, ...(tokens > 0 && { tokens }) },
  )
}

/** Counts the tokens seen so far of a completion that the run is about to abandon. */
export function abandonCompletion(run: RunHandle): void {
  const { state } = run.record
  if (state.at !== 'thinking' || state.unsent) return
  const spent = run.tx.context.spentOn(completionKey(run.id, state.turn, state.attempt))
  if (!spent) return
  const error = 'Called off before the model had answered; its tokens are booked as far as they were seen.'
  recordUnanswered(run, error, spent === 'elsewhere' ? estimateSent(run, state) : spent)
}

/** The tokens that a completion has sent. How much of its answer arrived is not known here. */
export const estimateSent = (run: RunHandle, wanted: StateAt<'thinking'>): SpentTokens => ({
  model: run.snapshot.model,
  usage: { inputTokens: sentTokens(run, wanted), outputTokens: 0, estimated: true },
})
