import type { CompletionRequest } from '../../providers/provider.ts'
import type { SpentTokens } from '../session/event.ts'
import { estimateUsage, estimateTokens } from '../../providers/tokens.ts'

/** Estimates the usage of a completion in flight, for one that is aborted or breaks off. */
export interface CompletionMeter {
  begin(request: CompletionRequest): void
  addText(text: string): void
  /** Characters of the answer so far, those that are not displayed included. */
  characters(): number
  /** True once the model has begun to answer. */
  hasText(): boolean
  /** An estimate, since vendors report usage only at the end; undefined before the request was sent. */
  spent(): SpentTokens | undefined
}

export function createMeter(): CompletionMeter {
  let request: CompletionRequest | undefined
  let characters = 0
  return {
    begin: (sent) => void (request = sent),
    addText: (text) => void (characters += text.length),
    characters: () => characters,
    hasText: () => characters > 0,
    spent: () =>
      request && {
        model: request.model,
        usage: {
          inputTokens: estimateUsage(request, '', []).inputTokens,
          outputTokens: characters === 0 ? 0 : estimateTokens(characters),
          estimated: true,
        },
      },
  }
}
