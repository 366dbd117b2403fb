/** Anthropic's Messages API through the official SDK. Source: decisions, section 13. */
import type Anthropic from '@anthropic-ai/sdk'
import type {
  ContentBlockParam,
  JSONOutputFormat,
  MessageCreateParamsStreaming,
  MessageDeltaUsage,
  RawMessageStreamEvent,
  Tool,
} from '@anthropic-ai/sdk/resources/messages'
import { alternatingTurns } from '../alternating-turns.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { keepSafeNumbers, parseArguments, toObjectSchema, vendorOptions } from '../arguments.ts'
import { claudeThinking } from '../claude-thinking.ts'
import { maxTokensWithThinking } from '../output-limit.ts'
import {
  PAUSE_TURN,
  type CompletionRequest,
  type FinishReason,
  type ModelMessage,
  type MessagePart,
  type ModelCall,
  type ModelProvider,
  type ModelUsage,
} from '../provider.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import { createSdkProvider, guardedBy, type SdkParts, type StreamCollector } from '../sdk-provider.ts'
import { tokenUsage } from '../tokens.ts'
import { withCachePoints } from './cache.ts'

export const createAnthropicProvider = (parts: SdkParts): ModelProvider =>
  createSdkProvider(parts, {
    load: () => loadClient(parts),
    open: async (client, request, signal) =>
      client.messages.create(
        withCachePoints(toRequest(request, await outputFormat(request.outputSchema)), request.model.provider_options),
        { signal, ...guardedBy(request) },
      ),
    collect: collectEvents,
  })

async function loadClient({ key, baseUrl, fetch }: SdkParts): Promise<Anthropic> {
  const { Anthropic: Client } = await import('@anthropic-ai/sdk')
  return new Client({
    apiKey: key?.reveal() ?? null,
    // Otherwise the SDK would send a token from the environment that the agent's document does not name.
    authToken: null,
    baseURL:
      baseUrl === undefined
        ? 'https://api.anthropic.com'
        : baseUrl.replace(/\/+$/, '').replace(/\/v1(\/messages)?$/, ''),
    maxRetries: 0,
    logLevel: 'off',
    fetch,
  })
}

function toRequest(request: CompletionRequest, format: JSONOutputFormat | undefined): MessageCreateParamsStreaming {
  const { model, tools } = request
  const { temperature, top_p, stop_sequences } = model.parameters ?? {}
  const thinks = claudeThinking(model)
  const effort = thinks && 'effort' in thinks ? thinks.effort : undefined
  return {
    model: model.name,
    max_tokens: maxTokensWithThinking(model),
    messages: alternatingTurns(request.messages, toBlocks),
    ...(request.system !== '' && { system: request.system }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }): Tool => ({
        name,
        description,
        input_schema: toObjectSchema(schema) as Tool['input_schema'],
      })),
    }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(stop_sequences !== undefined && { stop_sequences: [...stop_sequences] }),
    ...((format ?? effort) && { output_config: { ...(format && { format }), ...(effort && { effort }) } }),
    ...(thinks && { thinking: thinks.thinking }),
    ...vendorOptions(model.provider_options),
    stream: true,
  }
}

/**
 * Requests structured output when the vendor can enforce the schema. The SDK moves keywords that the vendor cannot check into
 * descriptions for the model, and the engine validates every answer in any case.
 */
async function outputFormat(schema: JsonSchema | undefined): Promise<JSONOutputFormat | undefined> {
  if (schema === undefined || typeof schema === 'boolean' || schema['type'] !== 'object' || !isEnforceable(schema))
    return undefined
  const { transformJSONSchema } = await import('@anthropic-ai/sdk/lib/transform-json-schema')
  return { type: 'json_schema', schema: transformJSONSchema(schema) }
}

/**
 * Whether every value in the schema has a type and every object lists its properties. The vendor allows no other properties,
 * so an object used as a map would come back empty, and it resolves no `$ref`, since that may be recursive.
 */
function isEnforceable(schema: JsonValue): boolean {
  if (!isJsonObject(schema) || '$ref' in schema) return false
  const { type, properties, items, anyOf, oneOf, allOf } = schema
  const choices = anyOf ?? oneOf ?? allOf
  if (Array.isArray(choices)) return choices.every(isEnforceable)
  if ('enum' in schema || 'const' in schema) return true
  if (type === 'array') return items !== undefined && isEnforceable(items)
  if (type !== 'object') return typeof type === 'string'
  if (!isJsonObject(properties) || 'patternProperties' in schema) return false
  return (schema['additionalProperties'] ?? false) === false && Object.values(properties).every(isEnforceable)
}

function toBlocks(message: ModelMessage): ContentBlockParam[] {
  if (message.role === 'tool')
    return [
      {
        type: 'tool_result',
        tool_use_id: message.callId,
        content: message.content,
        ...(message.isError && { is_error: true }),
      },
    ]
  if (message.role === 'user')
    return message.parts.filter((part) => part.type !== 'text' || part.text !== '').map(toPart)
  const { thinking, content } = message.hidden ?? {}
  if (Array.isArray(content)) return withCalls(content, message.calls)
  return [
    // Signed blocks come first and must be unchanged, or the vendor refuses the calls that follow them.
    ...(Array.isArray(thinking) ? (thinking as unknown as ContentBlockParam[]) : []),
    ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
    ...message.calls.map(toToolUse),
  ]
}

const toToolUse = ({ id, name, arguments: input }: ModelCall): ContentBlockParam => ({
  type: 'tool_use',
  id,
  name,
  input,
})

/** Blocks as the vendor sent them, with each call as it was executed. A call that was not executed has no result and is left out. */
function withCalls(content: readonly JsonValue[], calls: readonly ModelCall[]): ContentBlockParam[] {
  const left = [...calls]
  return content.flatMap((block) => {
    if (!isJsonObject(block) || block['type'] !== 'tool_use') return [block as unknown as ContentBlockParam]
    const call = left.shift()
    return call ? [toToolUse(call)] : []
  })
}

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const
type ImageType = (typeof IMAGES)[number]

function toPart(part: MessagePart): ContentBlockParam {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const data = Buffer.from(part.bytes).toString('base64')
  if ((IMAGES as readonly string[]).includes(part.mediaType))
    return { type: 'image', source: { type: 'base64', media_type: part.mediaType as ImageType, data } }
  if (part.mediaType === 'application/pdf')
    return { type: 'document', title: part.filename, source: { type: 'base64', media_type: 'application/pdf', data } }
  return {
    type: 'text',
    text: `File ${part.filename} (${part.mediaType}, ${part.bytes.byteLength} bytes) cannot be shown.`,
  }
}

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'context',
  refusal: 'content_filter',
  pause_turn: PAUSE_TURN,
}

/** A block of the answer while it is streamed. */
type StreamedBlock =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; json: string; readonly input: unknown }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  /** A call of one of the vendor's own tools, or its result: not our call, but the next request must send it back. */
  | { readonly type: 'vendor'; readonly block: JsonObject; json: string }

/** Text of an event that is not displayed: thinking and arguments of calls. */
function hiddenTextOf(event: RawMessageStreamEvent): string {
  if (event.type !== 'content_block_delta') return ''
  const { delta } = event
  if (delta.type === 'thinking_delta') return delta.thinking
  return delta.type === 'input_json_delta' ? delta.partial_json : ''
}

/** Anthropic counts cached input beside the rest, and thinking within the output. */
function toUsage(usage: Partial<MessageDeltaUsage>): ModelUsage {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage
  const [read, written] = [cache_read_input_tokens ?? 0, cache_creation_input_tokens ?? 0]
  return tokenUsage((input_tokens ?? 0) + read + written, output_tokens ?? 0, {
    cachedInputTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens,
  })
}

const withoutNulls = (usage: MessageDeltaUsage): Partial<MessageDeltaUsage> =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))

/** Assembles the completion from the events of a stream. */
function collectEvents(): StreamCollector<RawMessageStreamEvent> {
  let text = ''
  let stopReason: string | undefined
  let complete = false
  /** From the start of the message; its end reports those fields again that changed. */
  let usage: Partial<MessageDeltaUsage> = {}
  const blocks = new Map<number, StreamedBlock>()
  /** Returns the text that the event adds. */
  const addEvent = (event: RawMessageStreamEvent): string => {
    if (event.type === 'message_start') {
      usage = event.message.usage
    } else if (event.type === 'content_block_start') {
      const block = event.content_block
      if (block.type === 'text') {
        blocks.set(event.index, { type: 'text', text: block.text })
        text += block.text
        return block.text
      } else if (block.type === 'tool_use')
        blocks.set(event.index, { type: 'tool_use', id: block.id, name: block.name, json: '', input: block.input })
      else if (block.type === 'thinking')
        blocks.set(event.index, { type: 'thinking', thinking: block.thinking, signature: block.signature })
      else if (block.type === 'redacted_thinking')
        blocks.set(event.index, { type: 'redacted_thinking', data: block.data })
      else blocks.set(event.index, { type: 'vendor', block: block as unknown as JsonObject, json: '' })
    } else if (event.type === 'content_block_delta') {
      const block = blocks.get(event.index)
      const { delta } = event
      if (delta.type === 'text_delta') {
        text += delta.text
        if (block?.type === 'text') block.text += delta.text
        return delta.text
      }
      if (delta.type === 'input_json_delta' && (block?.type === 'tool_use' || block?.type === 'vendor'))
        block.json += delta.partial_json
      if (delta.type === 'thinking_delta' && block?.type === 'thinking') block.thinking += delta.thinking
      if (delta.type === 'signature_delta' && block?.type === 'thinking') block.signature += delta.signature
    } else if (event.type === 'message_delta') {
      stopReason = event.delta.stop_reason ?? stopReason
      usage = { ...usage, ...withoutNulls(event.usage) }
    } else if (event.type === 'message_stop') complete = true
    return ''
  }
  return {
    add: (event) => ({ text: addEvent(event), hidden: hiddenTextOf(event) }),
    finish() {
      if (!complete || stopReason === undefined) throw incompleteStreamError()
      const calls: ModelCall[] = []
      const thinking: JsonObject[] = []
      const content: JsonObject[] = []
      for (const block of blocks.values()) {
        if (block.type === 'vendor')
          content.push({ ...block.block, ...(block.json !== '' && { input: parseArguments(block.json) }) })
        else if (block.type === 'tool_use') content.push({ type: 'tool_use' })
        else if (block.type !== 'text' || block.text !== '') content.push({ ...block })
        if (block.type === 'tool_use')
          calls.push({
            id: block.id,
            name: block.name,
            arguments: block.json === '' ? keepSafeNumbers(block.input as JsonValue) : parseArguments(block.json),
          })
        else if (block.type === 'thinking' || block.type === 'redacted_thinking') thinking.push({ ...block })
      }
      const finishReason = FINISH_REASONS[stopReason]
      if (finishReason === undefined) throw unknownFinishError(stopReason)
      // Blocks of the vendor's own tools must be sent back unchanged and in order.
      const isMixed = [...blocks.values()].some((block) => block.type === 'vendor')
      return {
        text,
        finishReason,
        calls,
        usage: toUsage(usage),
        ...(isMixed ? { hidden: { content } } : thinking.length > 0 && { hidden: { thinking } }),
      }
    },
  }
}
