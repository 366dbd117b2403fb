/** Completions without an answer. Their tokens count all the same, so that aborting one escapes no budget. */
import type { ModelUsage } from '../../providers/provider.ts'
import { completionKey } from './keys.ts'
import type { RunHandle } from './transaction.ts'
import { toStepUsage } from './usage.ts'

/** Adds a failed `Reasoning` step and counts its tokens. */
export function recordUnanswered(run: RunHandle, error: string, spent: ModelUsage): void {
  const { inputTokens, outputTokens } = spent
  const { usage, llmModel } = run.record
  run.updateUsage({ inputTokens: usage.inputTokens + inputTokens, outputTokens: usage.outputTokens + outputTokens })
  const tokens = inputTokens + outputTokens
  run.addStep(
    'Reasoning',
    {
      text: '',
      model: llmModel,
      finish_reason: 'error',
      usage: toStepUsage(spent),
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
  recordUnanswered(run, error, spent)
}
