/** Chat completions, which compatible servers speak. Source: decisions, section 13. */
import type { CompletionUsage } from 'openai/resources/completions'
import type {
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { JsonObject } from '../../base/json/json.ts'
import { toObjectSchema, parseArguments, printArguments, vendorOptions } from '../arguments.ts'
import type { CompletionRequest, FinishReason, ModelMessage, MessagePart, ModelCall, ModelUsage } from '../provider.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { estimateUsage, tokenUsage } from '../tokens.ts'
import { isStrictSchema } from './strict-schema.ts'

/** @param compatible true for a server other than OpenAI. It gets `max_tokens`, the older name that all of them know. */
export function toChatRequest(request: CompletionRequest, compatible: boolean): ChatCompletionCreateParamsStreaming {
  const { model, tools, outputSchema } = request
  const { temperature, top_p, max_output_tokens, stop_sequences } = model.parameters ?? {}
  const format = outputSchema === undefined ? undefined : responseFormat(outputSchema)
  return {
    model: model.name,
    messages: [
      ...(request.system === '' ? [] : [{ role: 'system' as const, content: request.system }]),
      ...request.messages.map(toMessage),
    ],
    stream_options: { include_usage: true },
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function' as const,
        function: { name, description, parameters: toObjectSchema(schema) },
      })),
    }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(max_output_tokens !== undefined && {
      [compatible ? 'max_tokens' : 'max_completion_tokens']: max_output_tokens,
    }),
    ...(stop_sequences !== undefined && { stop: [...stop_sequences] }),
    ...(model.reasoning?.effort !== undefined && { reasoning_effort: model.reasoning.effort }),
    ...(format && { response_format: format }),
    ...vendorOptions(model.provider_options),
    stream: true,
  }
}

function toMessage(message: ModelMessage): ChatCompletionMessageParam {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content }
  if (message.role === 'user') {
    if (message.parts.every((part) => part.type === 'text'))
      return { role: 'user', content: message.parts.map((part) => part.text).join('\n\n') }
    return { role: 'user', content: message.parts.map(toPart) }
  }
  return {
    role: 'assistant',
    // The API accepts null only beside calls.
    content: message.text === '' && message.calls.length > 0 ? null : message.text,
    ...(message.calls.length > 0 && {
      tool_calls: message.calls.map((call) => ({
        id: call.id,
        type: 'function' as const,
        function: { name: call.name, arguments: printArguments(call.arguments) },
      })),
    }),
  }
}

function toPart(part: MessagePart) {
  if (part.type === 'text') return { type: 'text' as const, text: part.text }
  const data = `data:${part.mediaType};base64,${Buffer.from(part.bytes).toString('base64')}`
  if (part.mediaType.startsWith('image/')) return { type: 'image_url' as const, image_url: { url: data } }
  return { type: 'file' as const, file: { filename: part.filename, file_data: data } }
}

/**
 * Requests structured output for a schema of an object, strict only within the subset that OpenAI can enforce: it would refuse
 * others. The engine validates every answer in any case.
 */
function responseFormat(schema: JsonObject | boolean): ChatCompletionCreateParamsStreaming['response_format'] {
  if (typeof schema === 'boolean' || schema['type'] !== 'object') return undefined
  return { type: 'json_schema', json_schema: { name: 'output', schema, strict: isStrictSchema(schema) } }
}

/** Text of a chunk that is not displayed: arguments of calls, and the thinking that some servers send as `reasoning_content`. */
function hiddenTextOf(chunk: ChatCompletionChunk): string {
  const delta: (ChatCompletionChunk.Choice.Delta & { reasoning_content?: string | null }) | undefined =
    chunk.choices?.[0]?.delta
  const calls = delta?.tool_calls?.map((part) => part.function?.arguments ?? '') ?? []
  return (delta?.reasoning_content ?? '') + calls.join('')
}

/** Finish reasons in lower case. Compatible servers use more of them than OpenAI does. */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  complete: 'stop',
  tool_calls: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  model_length: 'context',
  content_filter: 'content_filter',
  refusal: 'content_filter',
  safety: 'content_filter',
}

/** Servers other than OpenAI report the details only where they have them. */
const toUsage = (usage: CompletionUsage): ModelUsage =>
  tokenUsage(usage.prompt_tokens, usage.completion_tokens, {
    cachedInputTokens: usage.prompt_tokens_details?.cached_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
  })

/** Assembles the completion from the chunks of a stream. */
export function collectChunks(request: CompletionRequest): StreamCollector<ChatCompletionChunk> {
  let text = ''
  let isRefused = false
  let finishReason: string | undefined
  let usage: ModelUsage | undefined
  const calls = new Map<number, { id: string; name: string; arguments: string }>()
  return {
    add(chunk) {
      if (chunk.usage) usage = toUsage(chunk.usage)
      const choice = chunk.choices?.[0]
      if (!choice) return { text: '', hidden: '' }
      if (choice.finish_reason) finishReason = choice.finish_reason
      for (const part of choice.delta?.tool_calls ?? []) {
        // Some servers send whole calls without an index.
        const index = part.index ?? calls.size
        const call = calls.get(index) ?? { id: '', name: '', arguments: '' }
        calls.set(index, {
          id: part.id ?? call.id,
          name: call.name + (part.function?.name ?? ''),
          arguments: call.arguments + (part.function?.arguments ?? ''),
        })
      }
      if (choice.delta?.refusal) isRefused = true
      const added = choice.delta?.content ?? choice.delta?.refusal ?? ''
      text += added
      return { text: added, hidden: hiddenTextOf(chunk) }
    },
    finish() {
      if (finishReason === undefined) throw incompleteStreamError()
      const collected: ModelCall[] = [...calls].map(([index, call]) => ({
        id: call.id || `call_${request.run.turn}_${index + 1}`,
        name: call.name,
        arguments: parseArguments(call.arguments),
      }))
      const known = FINISH_REASONS[finishReason.toLowerCase()]
      if (known === undefined) throw unknownFinishError(finishReason)
      // Some servers send "stop" with calls.
      const ended = collected.length > 0 && known === 'stop' ? 'tool_calls' : known
      return {
        text,
        // OpenAI ends a refusal with "stop", like an answer.
        finishReason: isRefused && ended !== 'length' ? 'content_filter' : ended,
        calls: collected,
        usage: usage ?? estimateUsage(request, text, collected),
      }
    },
  }
}
