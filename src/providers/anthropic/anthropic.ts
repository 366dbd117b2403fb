/** Anthropic's Messages API through the official SDK. Source: docs/design/models-and-tools.md#attempts */
import type Anthropic from '@anthropic-ai/sdk'
import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  JSONOutputFormat,
  MessageCreateParamsStreaming,
  Tool,
  ToolResultBlockParam,
  CacheControlEphemeral,
} from '@anthropic-ai/sdk/resources/messages'
import { alternatingTurns, isBlank, NOTHING_TO_READ, partsToRead } from '../alternating-turns.ts'
import { isJsonObject, type JsonValue, type JsonObject } from '../../base/json/json.ts'
import { fromJsonList } from '../../base/json/typed-json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { toObjectSchema, vendorOptions } from '../arguments.ts'
import { claudeThinking } from '../claude-thinking.ts'
import { maxTokensWithThinking } from '../output-limit.ts'
import type { CompletionRequest, MessagePart, ModelCall, ModelMessage, ModelProvider } from '../provider.ts'
import { withErrorText } from '../reading/error-text.ts'
import { readServerEvents } from '../reading/server-events.ts'
import { createSdkProvider, sendOptions, type SdkParts } from '../sdk-provider.ts'
import { restoreItems } from '../stored-items.ts'
import { collectMessage, toMessageEvents } from './message-stream.ts'

export const createAnthropicProvider = (parts: SdkParts): ModelProvider =>
  createSdkProvider(parts, {
    load: () => loadClient(parts),
    open: async (client, request, signal) => {
      const params = toRequest(request, await outputFormat(request.outputSchema))
      const asked = client.messages.create(withCachePoints(params, request.model.provider_options), {
        signal,
        ...sendOptions(request),
      })
      return readServerEvents(await asked.asResponse(), toMessageEvents)
    },
    collect: collectMessage,
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
    fetch: withErrorText(fetch),
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
        content: toResultContent(message),
        ...(message.isError && { is_error: true }),
      },
    ]
  if (message.role === 'user') return partsToRead(message.parts).map(toPart)
  const { thinking, content } = message.hidden ?? {}
  if (Array.isArray(content))
    return restoreItems(content, message.calls, (block) => block['type'] === 'tool_use', toToolUse)
  return [
    // Signed blocks come first and must be unchanged, or the vendor refuses the calls that follow them.
    ...(Array.isArray(thinking) ? fromJsonList<ContentBlockParam>(thinking.filter(isJsonObject)) : []),
    ...(isBlank(message.text) ? [] : [{ type: 'text' as const, text: message.text }]),
    ...message.calls.map(toToolUse),
  ]
}

/** The API refuses an error without a text. */
function toResultContent({
  content,
  media,
}: Extract<ModelMessage, { role: 'tool' }>): NonNullable<ToolResultBlockParam['content']> {
  const text = isBlank(content) ? NOTHING_TO_READ : content
  if (media === undefined) return text
  return [{ type: 'text', text }, ...media.map(({ mediaType, data }) => toFileBlock(mediaType, data))]
}

const toToolUse = ({ id, name, arguments: input }: ModelCall): ContentBlockParam => ({
  type: 'tool_use',
  id,
  name,
  input,
})

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const
type ImageType = (typeof IMAGES)[number]

function toPart(part: MessagePart): ContentBlockParam {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if ((IMAGES as readonly string[]).includes(part.mediaType) || part.mediaType === 'application/pdf')
    return toFileBlock(part.mediaType, Buffer.from(part.bytes).toString('base64'), part.filename)
  return {
    type: 'text',
    text: `File ${part.filename} (${part.mediaType}, ${part.bytes.byteLength} bytes) cannot be shown.`,
  }
}

/** An image or a PDF. */
const toFileBlock = (mediaType: string, data: string, title?: string): ImageBlockParam | DocumentBlockParam =>
  mediaType === 'application/pdf'
    ? {
        type: 'document',
        ...(title !== undefined && { title }),
        source: { type: 'base64', media_type: 'application/pdf', data },
      }
    : { type: 'image', source: { type: 'base64', media_type: mediaType as ImageType, data } }

/**
 * Adds the breakpoints. `cache_control` among the options of the model replaces the vendor's five minutes, for example
 * `{type: ephemeral, ttl: 1h}`; null turns caching off.
 */
function withCachePoints(
  params: MessageCreateParamsStreaming,
  options: JsonObject | undefined,
): MessageCreateParamsStreaming {
  const { cache_control: given, ...rest } = params
  if (options !== undefined && 'cache_control' in options && !isJsonObject(options['cache_control'])) return rest
  const cache_control: CacheControlEphemeral = given ?? { type: 'ephemeral' }
  const { tools, system } = rest
  const turn = rest.messages.findLastIndex(({ role }) => role === 'user')
  return {
    ...rest,
    ...(tools && { tools: markLast(tools, cache_control) }),
    ...(typeof system === 'string' && { system: [{ type: 'text' as const, text: system, cache_control }] }),
    messages: rest.messages.map((message, at) =>
      at === turn && Array.isArray(message.content)
        ? { role: 'user', content: markLast(message.content, cache_control) }
        : message,
    ),
  }
}

const markLast = <Part extends object>(parts: readonly Part[], cache_control: CacheControlEphemeral): Part[] =>
  parts.map((part, at) => (at === parts.length - 1 ? { ...part, cache_control } : part))
