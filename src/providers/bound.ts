/** How long an answer of a model can get. Source: decisions, section 13. */
import type { ProviderType } from '../spec/config.ts'
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

/** The same model, asked for an answer of at most `tokens`, whatever its own bound is. */
export function withRoom(model: SnapshotModel, tokens: number): SnapshotModel {
  const { provider_options: options } = model
  const given = BOUNDS.filter((name) => typeof options?.[name] === 'number')
  return {
    ...model,
    parameters: { ...model.parameters, max_output_tokens: tokens },
    ...(given.length > 0 && {
      provider_options: { ...options, ...Object.fromEntries(given.map((name) => [name, tokens])) },
    }),
  }
}

/** The names under which vendors take the bound; `provider_options` come last in a request, so theirs holds. */
const BOUNDS = ['max_tokens', 'max_completion_tokens'] as const

/**
 * The most tokens that a model can have made, or is taken to have made where nothing bounds it.
 * @param type what its provider is, whatever the provider is called
 */
export function mostOutput(model: SnapshotModel, type: ProviderType | undefined): number {
  for (const name of BOUNDS) {
    const given = model.provider_options?.[name]
    if (typeof given === 'number') return given
  }
  return type === 'anthropic'
    ? boundWithThinking(model)
    : (model.parameters?.max_output_tokens ?? boundWithThinking(model))
}
