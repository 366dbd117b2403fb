/** Completions that gave no answer. What they used is booked all the same: no budget is escaped by calling one off. */
import type { RunId } from '../../base/ids.ts'
import type { ModelCompletion } from '../../providers/provider.ts'
import type { SessionTransaction } from './transaction.ts'
import { completionKey } from './event.ts'

/** Writes such a completion down with what it used. */
export function bookUnanswered(
  tx: SessionTransaction,
  id: RunId,
  error: string,
  { inputTokens, outputTokens }: ModelCompletion['usage'],
): void {
  const { usage, llmModel } = tx.run(id)
  tx.updateUsage(id, { inputTokens: usage.inputTokens + inputTokens, outputTokens: usage.outputTokens + outputTokens })
  const tokens = inputTokens + outputTokens
  tx.addStep(
    id,
    'Reasoning',
    {
      text: '',
      model: llmModel,
      finish_reason: 'error',
      usage: { input_tokens: inputTokens, output_tokens: outputTokens },
      tool_calls: [],
    },
    { error, ...(tokens > 0 && { tokens }) },
  )
}

/** A run leaves the completion that it has in flight: it is called off, and booked as far as it was seen. */
export function callOff(tx: SessionTransaction, id: RunId): void {
  const { state } = tx.run(id)
  if (state.at !== 'thinking' || state.unsent) return
  const spent = tx.context.spentOn(completionKey(id, state.turn, state.attempt))
  if (!spent) return
  const error = 'Called off before the model had answered; its tokens are booked as far as they were seen.'
  bookUnanswered(tx, id, error, spent)
}
