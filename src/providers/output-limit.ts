/** Limits on the output tokens of a model. Source: docs/design/models-and-tools.md#incomplete-completions */
import type { ProviderType } from '../spec/project/config.ts'
import type { SnapshotModel } from '../spec/snapshot.ts'

/** Default when the author sets no limit: every model supports it, and it is enough for an answer. */
const DEFAULT_MAX_TOKENS = 4096
const THINKING_BUDGETS = { low: 1024, medium: 4096, high: 16_384 } as const

/** Tokens that a model may spend on thinking before it answers; 0 without `reasoning`. */
export const thinkingBudget = ({ reasoning }: SnapshotModel): number =>
  reasoning?.effort === undefined ? 0 : THINKING_BUDGETS[reasoning.effort]

/** The limit for a vendor that counts thinking towards it and requires it to exceed the thinking budget. */
export function maxTokensWithThinking(model: SnapshotModel): number {
  const limit = model.parameters?.max_output_tokens ?? DEFAULT_MAX_TOKENS
  const budget = thinkingBudget(model)
  return limit > budget ? limit : budget + limit
}

/** A copy of the model with its output limited to `tokens`, in place of any limit of its own. */
export function withOutputLimit(model: SnapshotModel, tokens: number): SnapshotModel {
  const { provider_options: options } = model
  const given = VENDOR_LIMITS.filter((name) => typeof options?.[name] === 'number')
  return {
    ...model,
    parameters: { ...model.parameters, max_output_tokens: tokens },
    ...(given.length > 0 && {
      provider_options: { ...options, ...Object.fromEntries(given.map((name) => [name, tokens])) },
    }),
  }
}

/** Names of the limit in vendors' requests. `provider_options` are merged into a request last, so a limit there wins. */
const VENDOR_LIMITS = ['max_tokens', 'max_completion_tokens'] as const

/**
 * The most output tokens that one completion can have; an assumed bound when nothing limits the model.
 * @param type of the provider, which may have any name
 */
export function maxOutputTokens(model: SnapshotModel, type: ProviderType | undefined): number {
  for (const name of VENDOR_LIMITS) {
    const given = model.provider_options?.[name]
    if (typeof given === 'number') return given
  }
  return type === 'anthropic'
    ? maxTokensWithThinking(model)
    : (model.parameters?.max_output_tokens ?? maxTokensWithThinking(model))
}
