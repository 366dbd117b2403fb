/** Assembles a completion from the events of the Responses API. */
import type {
  ResponseError,
  Response as OpenaiResponse,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import type { JsonObject } from '../../base/json/json.ts'
import { parseArguments } from '../arguments.ts'
import {
  ProviderError,
  type CompletionRequest,
  type FinishReason,
  type ModelCall,
  type ModelUsage,
} from '../provider.ts'
import { incompleteStreamError, unknownFinishError } from '../sdk-error.ts'
import type { StreamCollector } from '../sdk-provider.ts'
import { estimateUsage, tokenUsage } from '../tokens.ts'

export function collectResponse(request: CompletionRequest): StreamCollector<ResponseStreamEvent> {
  let text = ''
  let isRefused = false
  let response: OpenaiResponse | undefined
  const items = new Map<number, ResponseOutputItem>()
  return {
    add(event) {
      switch (event.type) {
        case 'response.output_text.delta':
          text += event.delta
          return { text: event.delta, hidden: '' }
        case 'response.refusal.delta':
          isRefused = true
          text += event.delta
          return { text: event.delta, hidden: '' }
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
        case 'response.function_call_arguments.delta':
          return { text: '', hidden: event.delta }
        case 'response.output_item.done':
          items.set(event.output_index, event.item)
          break
        case 'response.completed':
        case 'response.incomplete':
          response = event.response
          break
        case 'response.failed':
          throw failedResponseError(event.response.error)
        case 'error':
          throw failedResponseError(event)
      }
      return { text: '', hidden: '' }
    },
    finish() {
      if (response === undefined) throw incompleteStreamError()
      const output = [...items].toSorted(([a], [b]) => a - b).map(([, item]) => item)
      const calls = output.flatMap((item, index): ModelCall[] =>
        item.type === 'function_call'
          ? [
              {
                id: item.call_id || `call_${request.run.turn}_${index + 1}`,
                name: item.name,
                arguments: parseArguments(item.arguments),
              },
            ]
          : [],
      )
      const reason = reasonOf(response, calls.length > 0)
      return {
        text,
        finishReason: isRefused && reason !== 'length' ? 'content_filter' : reason,
        calls,
        usage: usageOf(response) ?? estimateUsage(request, text, calls),
        ...(output.some(({ type }) => type !== 'message' && type !== 'function_call') && {
          hidden: { items: output.map(toStoredItem) },
        }),
      }
    },
  }
}

/** The items that the next request sends back. Name and arguments of a call are those of the transcript. */
const toStoredItem = (item: ResponseOutputItem): JsonObject =>
  item.type === 'function_call'
    ? { type: item.type, ...(item.id !== undefined && { id: item.id }) }
    : (item as unknown as JsonObject)

function reasonOf({ status, incomplete_details }: OpenaiResponse, hasCalls: boolean): FinishReason {
  if (status !== 'incomplete') return hasCalls ? 'tool_calls' : 'stop'
  const reason: string = incomplete_details?.reason ?? 'incomplete'
  if (reason === 'max_output_tokens') return 'length'
  if (reason === 'content_filter') return 'content_filter'
  throw unknownFinishError(reason)
}

const usageOf = ({ usage }: OpenaiResponse): ModelUsage | undefined =>
  usage &&
  tokenUsage(usage.input_tokens, usage.output_tokens, {
    cachedInputTokens: usage.input_tokens_details?.cached_tokens,
    cacheWriteTokens: usage.input_tokens_details?.cache_write_tokens,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens,
  })

/** Codes of failures that another attempt may not meet. */
const PASSING_CODES: ReadonlySet<string> = new Set(['server_error', 'rate_limit_exceeded', 'vector_store_timeout'])

const failedResponseError = (
  error: (Pick<ResponseError, 'message'> & { readonly code: string | null }) | null,
): ProviderError =>
  new ProviderError(
    `The model provider broke off: ${error?.message ?? 'it gave no reason.'}`,
    error?.code == null || PASSING_CODES.has(error.code)
      ? { retryable: true, outage: 'provider_unreachable' }
      : { retryable: false },
  )
