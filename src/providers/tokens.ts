import type { CompletionRequest, ModelCall, ModelUsage } from './provider.ts'

/**
 * Estimates the tokens of a completion for a server that reports no usage, so that limits hold: four characters per token,
 * rounded up. The same request and answer always give the same numbers.
 */
export function estimateUsage(
  request: CompletionRequest,
  text: string,
  calls: readonly ModelCall[],
): { readonly inputTokens: number; readonly outputTokens: number } {
  let inputCharacters = request.system.length
  for (const message of request.messages) {
    if (message.role === 'user')
      for (const part of message.parts) inputCharacters += part.type === 'text' ? part.text.length : FILE_CHARACTERS
    else if (message.role === 'tool') inputCharacters += message.content.length
    else inputCharacters += message.text.length + lengthOfCalls(message.calls)
  }
  for (const tool of request.tools)
    inputCharacters += tool.name.length + tool.description.length + JSON.stringify(tool.schema).length
  return {
    inputTokens: estimateTokens(inputCharacters),
    outputTokens: estimateTokens(text.length + lengthOfCalls(calls)),
  }
}

/** Vendors count about a thousand tokens for an image or a page of a PDF. */
const FILE_CHARACTERS = 4000

const lengthOfCalls = (calls: readonly ModelCall[]): number =>
  calls.reduce((sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length, 0)

export const estimateTokens = (characters: number): number => Math.max(1, Math.ceil(characters / 4))

/** A usage in which parts that are not reported, or are zero, are absent. */
export function tokenUsage(
  inputTokens: number,
  outputTokens: number,
  parts: {
    readonly [Part in 'cachedInputTokens' | 'cacheWriteTokens' | 'reasoningTokens']?: number | null | undefined
  },
): ModelUsage {
  const { cachedInputTokens, cacheWriteTokens, reasoningTokens } = parts
  return {
    inputTokens,
    outputTokens,
    ...(cachedInputTokens && { cachedInputTokens }),
    ...(cacheWriteTokens && { cacheWriteTokens }),
    ...(reasoningTokens && { reasoningTokens }),
  }
}
