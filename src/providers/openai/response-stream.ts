/** Assembles a completion from the events of the Responses API. */
import { isJsonObject, type JsonObject, type JsonValue, listOf, textOf } from '../../base/json/json.ts'
import { keepSafeNumbers, parseArguments } from '../arguments.ts'
import { ProviderError, type CompletionRequest, type FinishReason, type ModelCall } from '../provider.ts'
import { readMessageContent } from '../reading/content.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { collectItems } from './response-items.ts'
import { readUsage, type ReportedUsage } from '../tokens.ts'

/** The events of a response that came whole. */
export const toResponseEvents = (whole: JsonObject): readonly JsonObject[] => [
  { type: `response.${typeof whole['status'] === 'string' ? whole['status'] : 'completed'}`, response: whole },
]

export function collectResponse(request: CompletionRequest): StreamCollector<JsonObject> {
  let text = ''
  /** The text once more at the end of its part. */
  let whole = ''
  let thinking = ''
  let isRefused = false
  let response: JsonObject | undefined
  const items = collectItems()
  /** Arguments by the id of their item, else by its place. */
  const pieces = new Map<JsonValue | undefined, string>()
  return {
    add(event) {
      const { type, delta, item } = event
      switch (type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta': {
          if (type === 'response.refusal.delta') isRefused = true
          const added = readMessageContent(delta, `${type} delta`).text
          text += added
          return { text: added, hidden: '' }
        }
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta': {
          const added = readMessageContent(delta, `${type} delta`).text
          thinking += added
          return { text: '', hidden: added }
        }
        case 'response.function_call_arguments.delta': {
          const added = readMessageContent(delta, `${type} delta`).text
          const key = event['item_id'] ?? event['output_index']
          pieces.set(key, (pieces.get(key) ?? '') + added)
          return { text: '', hidden: added }
        }
        case 'response.output_text.done':
          whole += textOf(event['text'])
          break
        case 'response.output_item.added':
        case 'response.output_item.done':
          if (isJsonObject(item)) items.add(event['output_index'], item, type === 'response.output_item.done')
          break
        case 'response.completed':
        case 'response.incomplete':
          response = isJsonObject(event['response']) ? event['response'] : {}
          break
        case 'response.failed':
          throw failedResponseError(isJsonObject(event['response']) ? event['response']['error'] : undefined)
      }
      return { text: '', hidden: '' }
    },
    isWhole: () => response !== undefined,
    finish(isDone) {
      const streamed = items.inOrder().map(({ at, item }) => withPieces(item, pieces.get(item['id']) ?? pieces.get(at)))
      const given = listOf(response?.['output']).filter(isJsonObject)
      // Some servers stream no items, or only the text.
      const output = streamed.length > 0 && countCalls(streamed) >= countCalls(given) ? streamed : given
      if (response === undefined && !(isDone && output.length > 0)) throw incompleteStreamError()
      // Servers that send no pieces send the text with the item.
      if (text === '') text = output.map(textOfMessage).join('') || whole
      if (output.some(isRefusal)) isRefused = true
      const calls = output
        .filter(({ type }) => type === 'function_call')
        .map((item, at): ModelCall => ({
          id: textOf(item['call_id']) || textOf(item['id']) || `call_${request.run.turn}_${at + 1}`,
          name: textOf(item['name']),
          arguments: readArguments(item['arguments']),
        }))
      const reason = reasonOf(response ?? {}, calls.length > 0)
      return {
        text,
        finishReason: isRefused && reason !== 'length' ? 'content_filter' : reason,
        calls,
        usage: readUsage(toReported(response?.['usage']), request, { text, calls, thinking }),
        ...(output.some(({ type }) => type !== 'message' && type !== 'function_call') && {
          hidden: { items: output.map(toStoredItem) },
        }),
      }
    },
  }
}

const countCalls = (output: readonly JsonObject[]): number =>
  output.filter(({ type }) => type === 'function_call').length

/** An item that was never done, with the pieces of its arguments. */
const withPieces = (item: JsonObject, pieces: string | undefined): JsonObject =>
  item['type'] === 'function_call' && pieces !== undefined && textOf(item['arguments']) === ''
    ? { ...item, arguments: pieces }
    : item

const textOfMessage = (item: JsonObject): string =>
  item['type'] === 'message' ? readMessageContent(item['content'], 'output.content').text : ''

const isRefusal = ({ type, content }: JsonObject): boolean =>
  type === 'message' && listOf(content).some((part) => isJsonObject(part) && textOf(part['refusal']).trim() !== '')

const readArguments = (given: JsonValue | undefined): JsonValue =>
  isJsonObject(given) ? keepSafeNumbers(given) : parseArguments(textOf(given))

/** The items that the next request sends back. Name and arguments of a call are those of the transcript. */
const toStoredItem = (item: JsonObject): JsonObject =>
  item['type'] === 'function_call'
    ? { type: item['type'], ...(typeof item['id'] === 'string' && { id: item['id'] }) }
    : item

function reasonOf({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): FinishReason {
  if (status !== 'incomplete') return hasCalls ? 'tool_calls' : 'stop'
  const reason = (isJsonObject(details) ? details['reason'] : undefined) ?? 'incomplete'
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return 'length'
  if (reason === 'content_filter') return 'content_filter'
  throw unknownFinishError(reason, 'response.incomplete_details.reason')
}

function toReported(usage: JsonValue | undefined): ReportedUsage | undefined {
  if (!isJsonObject(usage)) return undefined
  const { input_tokens_details: details, output_tokens_details: more } = usage
  const [input, output] = [isJsonObject(details) ? details : {}, isJsonObject(more) ? more : {}]
  return {
    input: usage['input_tokens'],
    output: usage['output_tokens'],
    total: usage['total_tokens'],
    cachedInput: input['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    reasoning: output['reasoning_tokens'],
  }
}

/** Codes of failures that another attempt may not meet. */
const PASSING_CODES: ReadonlySet<unknown> = new Set(['server_error', 'rate_limit_exceeded', 'vector_store_timeout'])

function failedResponseError(error: JsonValue | undefined): ProviderError {
  const { message, code } = isJsonObject(error) ? error : {}
  return new ProviderError(
    `The model provider broke off: ${typeof message === 'string' ? message : 'it gave no reason.'}`,
    code === undefined || code === null || PASSING_CODES.has(code)
      ? { retryable: true, outage: 'provider_unreachable' }
      : { retryable: false },
  )
}
