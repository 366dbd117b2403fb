/** How long an answer of a model can get. Source: decisions, section 13. */
import type { SnapshotModel } from '../spec/snapshot.ts'

/** For an author who sets no bound: it fits every model and is enough for an answer. */
const DEFAULT_MAX_TOKENS = 4096
const THINKING_BUDGETS = { low: 1024, medium: 4096, high: 16_384 } as const

/** Tokens that a model may think before it answers; 0 where it is not asked to. */
export const thinkingBudget = ({ reasoning }: SnapshotModel): number =>
  reasoning?.effort === undefined ? 0 : THINKING_BUDGETS[reasoning.effort]

/** Where thinking counts towards the bound: it must be above the budget of thinking. */
export function boundWithThinking(model: SnapshotModel): number {
  const bound = model.parameters?.max_output_tokens ?? DEFAULT_MAX_TOKENS
  const budget = thinkingBudget(model)
  return bound > budget ? bound : budget + bound
}

/** The most tokens that a model can have made, or is taken to have made where nothing bounds it. */
export const mostOutput = (model: SnapshotModel): number =>
  model.provider === 'anthropic'
    ? boundWithThinking(model)
    : (model.parameters?.max_output_tokens ?? boundWithThinking(model))
