/** Tokens and time that a run has used so far. */
import type { Run } from '../../spec/run/run.ts'
import type { ModelUsage } from '../../providers/provider.ts'
import { addCost, costOf, joinCosts, NO_COST, type CostSum, type StepCost } from '../../spec/price.ts'
import type { SnapshotModel } from '../../spec/snapshot.ts'
import type { CompletionUsage } from '../../spec/step.ts'
import type { RunHandle } from './transaction.ts'

/** Tokens of a run and of its descendants. */
export function tokensOf(run: RunHandle): number {
  const { inputTokens, outputTokens } = run.usage
  return run.children().reduce((sum, child) => sum + tokensOf(child), inputTokens + outputTokens)
}

/** The root run above a run, or the run itself. */
export const rootOfRun = (run: RunHandle): RunHandle => run.ancestors().at(-1) ?? run

/** Milliseconds since the start in which the run did not wait for a person. */
export function activeMs(run: Run, now: number): number {
  const { waitedMs, heldMs = 0, waitingSince } = run.usage
  return now - run.startedAt - waitedMs - heldMs - (waitingSince === null ? 0 : now - waitingSince)
}

/** The cost of a run and its descendants. */
export const costOfRun = (run: RunHandle): CostSum =>
  joinCosts([run.usage.cost ?? NO_COST, ...run.children().map(costOfRun)])

/** Counts the tokens of a completion and what they cost; returns both as the step has them. */
export function countCompletion(
  run: RunHandle,
  model: SnapshotModel,
  tokens: ModelUsage,
): { readonly usage: CompletionUsage; readonly cost?: StepCost } {
  const usage = toStepUsage(tokens)
  const { inputTokens, outputTokens, cost: before = NO_COST } = run.usage
  const isUsed = tokens.inputTokens + tokens.outputTokens > 0
  const { price } = run.tx.context.termsOf(model)
  const isBilled = isUsed && price !== 'free'
  const cost = isBilled && price !== 'unknown' ? costOf(price, usage) : undefined
  run.updateUsage({
    inputTokens: inputTokens + tokens.inputTokens,
    outputTokens: outputTokens + tokens.outputTokens,
    ...(isBilled && { cost: addCost(before, cost) }),
  })
  if (isUsed) {
    const { provider, name } = model
    const money = cost ? { amount: cost.amount, currency: cost.currency } : null
    run.tx.recordSpend({ runId: run.id, provider, model: name, usage, ...(isBilled && { cost: money }) })
  }
  return { usage, ...(cost && { cost }) }
}

/** Usage of a completion as its step has it. Parts that the provider did not report are absent. */
const toStepUsage = (usage: ModelUsage): CompletionUsage => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  ...(usage.cachedInputTokens !== undefined && { cached_input_tokens: usage.cachedInputTokens }),
  ...(usage.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
  ...(usage.reasoningTokens !== undefined && { reasoning_tokens: usage.reasoningTokens }),
  ...(usage.estimated && { estimated: true }),
})
