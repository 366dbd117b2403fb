/** Requests of chat completions, which compatible servers speak. Source: docs/design/models-and-tools.md#attempts */
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { isBlank } from '../alternating-turns.ts'
import { toObjectSchema, printArguments, vendorOptions } from '../arguments.ts'
import type { CompletionRequest, ModelMessage, MessagePart } from '../provider.ts'
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
      ...toMessages(request.messages),
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

/**
 * The messages, without answers that are blank. Once the model has thought in this run, each of its calls carries the thinking before
 * it, if only an empty one: servers of thinking models refuse calls without. Source: DeepSeek, "Thinking mode", tool calls.
 */
function toMessages(messages: readonly ModelMessage[]): ChatCompletionMessageParam[] {
  const states = messages.map((message) => (message.role === 'assistant' ? message.hidden?.['chat'] : undefined))
  const names = new Set(states.flatMap((state) => (isJsonObject(state) ? Object.keys(state) : [])))
  const empty: JsonObject = names.has('reasoning_content') ? { reasoning_content: '' } : {}
  return messages.flatMap((message, at): ChatCompletionMessageParam[] => {
    if (message.role === 'tool')
      return [toInputMessage(message), ...(messages[at + 1]?.role === 'tool' ? [] : toMediaMessage(messages, at))]
    if (message.role !== 'assistant') return [toInputMessage(message)]
    if (message.calls.length === 0) return isBlank(message.text) ? [] : [{ role: 'assistant', content: message.text }]
    return [
      {
        role: 'assistant',
        // The API accepts null only beside calls.
        content: isBlank(message.text) ? null : message.text,
        ...(isJsonObject(states[at]) ? states[at] : empty),
        tool_calls: message.calls.map((call) => ({
          id: call.id,
          type: 'function' as const,
          function: { name: call.name, arguments: printArguments(call.arguments) },
        })),
      },
    ]
  })
}

/** A message of the user with what tools answered beside text, after the last of their results: these take text alone. */
function toMediaMessage(messages: readonly ModelMessage[], last: number): ChatCompletionMessageParam[] {
  const first = messages.findLastIndex(({ role }, at) => at <= last && role !== 'tool') + 1
  const content = messages
    .slice(first, last + 1)
    .flatMap((message) =>
      message.role === 'tool' && message.media !== undefined
        ? [
            { type: 'text' as const, text: `Result of ${message.name} (${message.callId}):` },
            ...message.media.map(({ mediaType, data }) => toFilePart(mediaType, data, 'result.pdf')),
          ]
        : [],
    )
  return content.length === 0 ? [] : [{ role: 'user', content }]
}

function toInputMessage(message: Exclude<ModelMessage, { role: 'assistant' }>): ChatCompletionMessageParam {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content }
  if (message.parts.every((part) => part.type === 'text'))
    return { role: 'user', content: message.parts.map((part) => part.text).join('\n\n') }
  return {
    role: 'user',
    content: message.parts.filter((part) => part.type !== 'text' || !isBlank(part.text)).map(toPart),
  }
}

function toPart(part: MessagePart) {
  if (part.type === 'text') return { type: 'text' as const, text: part.text }
  return toFilePart(part.mediaType, Buffer.from(part.bytes).toString('base64'), part.filename)
}

function toFilePart(mediaType: string, data: string, filename: string): ChatCompletionContentPart {
  const url = `data:${mediaType};base64,${data}`
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  if (mediaType === 'audio/wav') return { type: 'input_audio', input_audio: { data, format: 'wav' } }
  if (mediaType === 'audio/mp3') return { type: 'input_audio', input_audio: { data, format: 'mp3' } }
  return { type: 'file', file: { filename, file_data: url } }
}

/**
 * Requests structured output for a schema of an object, strict only within the subset that OpenAI can enforce: it would refuse
 * others. The engine validates every answer in any case.
 */
function responseFormat(schema: JsonObject | boolean): ChatCompletionCreateParamsStreaming['response_format'] {
  if (typeof schema === 'boolean' || schema['type'] !== 'object') return undefined
  return { type: 'json_schema', json_schema: { name: 'output', schema, strict: isStrictSchema(schema) } }
}
