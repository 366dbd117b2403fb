import type { ModelCompletion, CompletionRequest } from '../../providers/provider.ts'
import { estimateUsage, tokensIn } from '../../providers/tokens.ts'

/** Counts what a completion costs while it is under way, for the one that is called off or breaks off. */
export interface CompletionMeter {
  begin(request: CompletionRequest): void
  hear(text: string): void
  /** True once the model has begun to answer. */
  hasHeard(): boolean
  /** Undefined while nothing was asked. The vendor counts at the end alone, so this is an estimate. */
  spent(): ModelCompletion['usage'] | undefined
}

export function createMeter(): CompletionMeter {
  let request: CompletionRequest | undefined
  let heard = 0
  return {
    begin: (given) => void (request = given),
    hear: (text) => void (heard += text.length),
    hasHeard: () => heard > 0,
    spent: () =>
      request && {
        inputTokens: estimateUsage(request, '', []).inputTokens,
        outputTokens: heard === 0 ? 0 : tokensIn(heard),
      },
  }
}
