/** Assembles a completion from the chunks of Gemini's stream. */
import type { GenerateContentResponse, GenerateContentResponseUsageMetadata, Part } from '@google/genai'
import type { JsonValue } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { keepSafeNumbers, parseArguments } from '../arguments.ts'
import type { CompletionRequest, FinishReason, ModelCall } from '../provider.ts'
import { readMessageContent } from '../reading/content.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { readUsage, sumTokens, type ReportedUsage } from '../tokens.ts'

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  LANGUAGE: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
}

export function collectContent(request: CompletionRequest): StreamCollector<GenerateContentResponse> {
  let text = ''
  let finishReason: string | undefined
  let isBlocked = false
  let usage: ReportedUsage | undefined
  let thinking = ''
  const calls: ModelCall[] = []
  const parts: Part[] = []
  return {
    add({ candidates, promptFeedback, usageMetadata }) {
      if (usageMetadata) usage = toReported(usageMetadata)
      if (promptFeedback?.blockReason) isBlocked = true
      const candidate = candidates?.find(({ content }) => content?.parts?.length) ?? candidates?.[0]
      if (candidate?.finishReason) finishReason = candidate.finishReason
      let added = ''
      let hidden = ''
      for (const [at, part] of (candidate?.content?.parts ?? []).entries()) {
        if (part.functionCall) {
          const { id, name, args } = part.functionCall
          calls.push({
            id: id || `call_${request.run.turn}_${calls.length + 1}`,
            name: name ?? '',
            arguments: readArguments(args),
          })
          hidden += JSON.stringify(args ?? {})
        } else {
          const { text: read } = readMessageContent(part.text, `candidates[0].content.parts[${at}].text`)
          if (part.thought) thinking += read
          if (part.thought) hidden += read
          else added += read
        }
        keepPart(parts, part)
      }
      text += added
      return { text: added, hidden }
    },
    isWhole: () => finishReason !== undefined || isBlocked,
    finish() {
      if (finishReason === undefined && !isBlocked) throw incompleteStreamError()
      const ended = finishReason === undefined ? undefined : FINISH_REASONS[finishReason]
      const known = isBlocked ? 'content_filter' : ended
      if (known === undefined) throw unknownFinishError(finishReason, 'candidates[0].finishReason')
      const isSigned = parts.some(({ thoughtSignature }) => thoughtSignature !== undefined)
      return {
        text,
        finishReason: calls.length > 0 && known === 'stop' ? 'tool_calls' : known,
        calls,
        usage: readUsage(usage, request, { text, calls, thinking }),
        ...(isSigned && { hidden: { parts: toJson(parts) } }),
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

/** Arguments as the SDK parsed them, or as a text that a server in between left unparsed. */
const readArguments = (args: unknown): JsonValue =>
  typeof args === 'string' ? parseArguments(args) : keepSafeNumbers((args ?? {}) as JsonValue)

/** Gemini counts thoughts beside the answer. */
const toReported = (usage: GenerateContentResponseUsageMetadata): ReportedUsage => ({
  input: sumTokens(usage.promptTokenCount, usage.toolUsePromptTokenCount),
  output: sumTokens(
    usage.candidatesTokenCount ?? usage.thoughtsTokenCount,
    usage.candidatesTokenCount === undefined ? 0 : usage.thoughtsTokenCount,
  ),
  total: usage.totalTokenCount,
  cachedInput: usage.cachedContentTokenCount,
  reasoning: usage.thoughtsTokenCount,
})
