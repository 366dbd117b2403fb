/**
 * Requests of the Responses API. Nothing is stored at the vendor: each request has the whole transcript.
 * Source: docs/design/models-and-tools.md#attempts
 */
import type OpenAI from 'openai'
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseFunctionToolCall,
  ResponseInputContent,
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import type { JsonValue } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { isBlank } from '../alternating-turns.ts'
import { printArguments, toObjectSchema, vendorOptions } from '../arguments.ts'
import type { CompletionRequest, MessagePart, ModelCall, ModelMessage } from '../provider.ts'
import { readServerEvents, type ServerEvent } from '../reading/server-events.ts'
import { sendOptions } from '../sdk-provider.ts'
import { restoreItems } from '../stored-items.ts'
import { toResponseEvents } from './response-stream.ts'
import { isStrictSchema } from './strict-schema.ts'

type OpenResponse = (
  client: OpenAI,
  request: CompletionRequest,
  signal: AbortSignal,
) => Promise<AsyncIterable<ServerEvent>>

/**
 * Sends requests. Two refusals are answered by a second request, since neither costs anything nor depends on the author:
 * a model without reasoning refuses to encrypt it, which is remembered for its name, and reasoning that another organization
 * encrypted, as after a change of the key, is left out.
 */
export function createResponseSender(): OpenResponse {
  const withoutReasoning = new Set<string>()
  return async (client, request, signal) => {
    const { name } = request.model
    const send = async (keepsReasoning: boolean): Promise<AsyncIterable<ServerEvent>> => {
      const params = toResponseRequest(request, keepsReasoning && !withoutReasoning.has(name))
      const asked = client.responses.create(params, { signal, ...sendOptions(request) })
      return readServerEvents(await asked.asResponse(), toResponseEvents)
    }
    try {
      return await send(true)
    } catch (error) {
      const { status, param, code } = Object(error) as { status?: unknown; param?: unknown; code?: unknown }
      const isUnsupported = status === 400 && param === 'include' && !withoutReasoning.has(name)
      if (!isUnsupported && !(status === 400 && code === 'invalid_encrypted_content')) throw error
      if (isUnsupported) withoutReasoning.add(name)
      return send(false)
    }
  }
}

function toResponseRequest(request: CompletionRequest, keepsReasoning: boolean): ResponseCreateParamsStreaming {
  const { model, tools, outputSchema } = request
  const { temperature, top_p, max_output_tokens } = model.parameters ?? {}
  const format = outputSchema === undefined ? undefined : textFormat(outputSchema)
  return {
    model: model.name,
    ...(request.system !== '' && { instructions: request.system }),
    input: request.messages.flatMap((message) => toItems(message, keepsReasoning)),
    store: false,
    ...(keepsReasoning && { include: ['reasoning.encrypted_content' as const] }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }): FunctionTool => {
        const parameters = toObjectSchema(schema)
        // Without `strict` the API would rewrite the schema to make it strict.
        return { type: 'function', name, description, parameters, strict: isStrictSchema(parameters) }
      }),
    }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(model.reasoning?.effort !== undefined && { reasoning: { effort: model.reasoning.effort } }),
    ...(format && { text: { format } }),
    ...vendorOptions(model.provider_options),
    stream: true,
  }
}

/** Structured output for a schema of an object. The engine validates every answer in any case. */
function textFormat(schema: JsonSchema) {
  if (typeof schema === 'boolean' || schema['type'] !== 'object') return undefined
  return { type: 'json_schema' as const, name: 'output', schema, strict: isStrictSchema(schema) }
}

function toItems(message: ModelMessage, keepsReasoning: boolean): ResponseInputItem[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.callId, output: toOutput(message) }]
  if (message.role === 'user') return [{ role: 'user', content: message.parts.map(toContent) }]
  const items = message.hidden?.['items']
  if (keepsReasoning && Array.isArray(items))
    return restoreItems<ResponseInputItem>(
      items,
      message.calls,
      (item) => item['type'] === 'function_call',
      (call, item) => toFunctionCall(call, item['id']),
    )
  return [
    ...(isBlank(message.text) ? [] : [{ role: 'assistant' as const, content: message.text }]),
    ...message.calls.map((call) => toFunctionCall(call)),
  ]
}

const toFunctionCall = (call: ModelCall, id?: JsonValue): ResponseFunctionToolCall => ({
  type: 'function_call',
  ...(typeof id === 'string' && { id }),
  call_id: call.id,
  name: call.name,
  arguments: printArguments(call.arguments),
})

function toOutput({
  content,
  media,
}: Extract<ModelMessage, { role: 'tool' }>): ResponseInputItem.FunctionCallOutput['output'] {
  if (media === undefined) return content
  return [
    ...(isBlank(content) ? [] : [{ type: 'input_text' as const, text: content }]),
    ...media.map(({ mediaType, data }) => toFileContent(mediaType, data, 'result.pdf')),
  ]
}

function toContent(part: MessagePart): ResponseInputContent {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  return toFileContent(part.mediaType, Buffer.from(part.bytes).toString('base64'), part.filename)
}

function toFileContent(mediaType: string, data: string, filename: string): ResponseInputImage | ResponseInputFile {
  const url = `data:${mediaType};base64,${data}`
  return mediaType.startsWith('image/')
    ? { type: 'input_image', image_url: url, detail: 'auto' }
    : { type: 'input_file', filename, file_data: url }
}
