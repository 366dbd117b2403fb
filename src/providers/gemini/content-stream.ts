/** Assembles a completion from the chunks of Gemini's stream. */
import type { GenerateContentResponse, GenerateContentResponseUsageMetadata, Part } from '@google/genai'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { keepSafeNumbers } from '../arguments.ts'
import type { CompletionRequest, FinishReason, ModelCall, ModelUsage } from '../provider.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { estimateUsage, tokenUsage } from '../tokens.ts'

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  LANGUAGE: 'content_filter',
}

export function collectContent(request: CompletionRequest): StreamCollector<GenerateContentResponse> {
  let text = ''
  let finishReason: string | undefined
  let isBlocked = false
  let usage: ModelUsage | undefined
  const calls: ModelCall[] = []
  const parts: Part[] = []
  return {
    add({ candidates, promptFeedback, usageMetadata }) {
      if (usageMetadata) usage = toUsage(usageMetadata)
      if (promptFeedback?.blockReason) isBlocked = true
      const candidate = candidates?.[0]
      if (candidate?.finishReason) finishReason = candidate.finishReason
      let added = ''
      let hidden = ''
      for (const part of candidate?.content?.parts ?? []) {
        if (part.functionCall) {
          const { id, name = '', args = {} } = part.functionCall
          calls.push({
            id: id ?? `call_${request.run.turn}_${calls.length + 1}`,
            name,
            arguments: keepSafeNumbers(args as JsonValue),
          })
          hidden += JSON.stringify(args)
        } else if (part.thought) hidden += part.text ?? ''
        else added += part.text ?? ''
        keepPart(parts, part)
      }
      text += added
      return { text: added, hidden }
    },
    finish() {
      if (finishReason === undefined && !isBlocked) throw incompleteStreamError()
      const known = isBlocked ? 'content_filter' : FINISH_REASONS[finishReason!]
      if (known === undefined) throw unknownFinishError(finishReason!)
      const isSigned = parts.some(({ thoughtSignature }) => thoughtSignature !== undefined)
      return {
        text,
        finishReason: calls.length > 0 && known === 'stop' ? 'tool_calls' : known,
        calls,
        usage: usage ?? estimateUsage(request, text, calls),
        ...(isSigned && { hidden: { parts: parts as unknown as JsonObject[] } }),
      }
    },
  }
}

/** Keeps what the next request must send back: signed parts as they are, other text in as few parts as possible, no thoughts. */
function keepPart(parts: Part[], part: Part): void {
  const { thoughtSignature } = part
  const last = parts.at(-1)
  if (part.functionCall)
    // Name and arguments are those of the transcript.
    parts.push({ functionCall: {}, ...(thoughtSignature !== undefined && { thoughtSignature }) })
  else if (thoughtSignature !== undefined) parts.push({ ...part })
  else if (part.thought || part.text === undefined || part.text === '') return
  else if (last && last.text !== undefined && last.thoughtSignature === undefined && !last.thought)
    last.text += part.text
  else parts.push({ text: part.text })
}

/** Gemini counts thoughts beside the answer. */
function toUsage(usage: GenerateContentResponseUsageMetadata): ModelUsage {
  const thoughts = usage.thoughtsTokenCount ?? 0
  return tokenUsage(
    (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    (usage.candidatesTokenCount ?? 0) + thoughts,
    { cachedInputTokens: usage.cachedContentTokenCount, reasoningTokens: thoughts },
  )
}
