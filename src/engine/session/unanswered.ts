/** Completions without an answer. Their tokens count all the same, so that aborting one escapes no budget. */
import type { RunId } from '../../base/ids.ts'
import type { ModelUsage } from '../../providers/provider.ts'
import type { SessionTransaction } from './transaction.ts'
import { completionKey } from './event.ts'
import { toStepUsage } from './usage.ts'

/** Adds a failed `Reasoning` step and counts its tokens. */
export function recordUnanswered(tx: SessionTransaction, id: RunId, error: string, spent: ModelUsage): void {
  const { usage, llmModel } = tx.run(id)
  const { inputTokens, outputTokens } = spent
  tx.updateUsage(id, { inputTokens: usage.inputTokens + inputTokens, outputTokens: usage.outputTokens + outputTokens })
  const tokens = inputTokens + outputTokens
  tx.addStep(
    id,
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
export function abandonCompletion(tx: SessionTransaction, id: RunId): void {
  const { state } = tx.run(id)
  if (state.at !== 'thinking' || state.unsent) return
  const spent = tx.context.spentOn(completionKey(id, state.turn, state.attempt))
  if (!spent) return
  const error = 'Called off before the model had answered; its tokens are booked as far as they were seen.'
  recordUnanswered(tx, id, error, spent)
}
