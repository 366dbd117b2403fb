import type { CompletionRequest, ModelCall } from './provider.ts'

/**
 * Tokens of a completion where nobody counted them: four characters a token, rounded up. The same request and answer give the
 * same numbers, and limits hold with a server that reports no usage.
 */
export function estimateUsage(
  request: CompletionRequest,
  text: string,
  calls: readonly ModelCall[],
): { readonly inputTokens: number; readonly outputTokens: number } {
  let read = request.system.length
  for (const message of request.messages) {
    if (message.role === 'user')
      for (const part of message.parts) read += part.type === 'text' ? part.text.length : FILE_CHARACTERS
    else if (message.role === 'tool') read += message.content.length
    else read += message.text.length + lengthOfCalls(message.calls)
  }
  for (const tool of request.tools)
    read += tool.name.length + tool.description.length + JSON.stringify(tool.schema).length
  return { inputTokens: tokensIn(read), outputTokens: tokensIn(text.length + lengthOfCalls(calls)) }
}

/** An image or a page of a PDF is booked at some thousand tokens by those who count them. */
const FILE_CHARACTERS = 4000

const lengthOfCalls = (calls: readonly ModelCall[]): number =>
  calls.reduce((sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length, 0)

export const tokensIn = (characters: number): number => Math.max(1, Math.ceil(characters / 4))
