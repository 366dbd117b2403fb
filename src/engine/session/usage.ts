/** Tokens and time that a run has used so far. */
import type { Run } from '../../spec/run.ts'
import type { ModelUsage } from '../../providers/provider.ts'
import type { CompletionUsage } from '../../spec/step.ts'
import type { RunHandle } from './transaction.ts'

/** Tokens of a run and of its descendants. */
export function tokensOf(run: RunHandle): number {
  const { inputTokens, outputTokens } = run.usage
  return run.children().reduce((sum, child) => sum + tokensOf(child), inputTokens + outputTokens)
}

/** Milliseconds since the start in which the run did not wait for a person. */
export function activeMs(run: Run, now: number): number {
  const { waitedMs, heldMs = 0, waitingSince } = run.usage
  return now - run.startedAt - waitedMs - heldMs - (waitingSince === null ? 0 : now - waitingSince)
}

/** Usage of a completion as its step has it. Parts that the provider did not report are absent. */
export const toStepUsage = (usage: ModelUsage): CompletionUsage => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  ...(usage.cachedInputTokens !== undefined && { cached_input_tokens: usage.cachedInputTokens }),
  ...(usage.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
  ...(usage.reasoningTokens !== undefined && { reasoning_tokens: usage.reasoningTokens }),
})
