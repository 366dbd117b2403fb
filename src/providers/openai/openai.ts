/** OpenAI, compatible servers and Azure OpenAI. Source: docs/design/models-and-tools.md#attempts */
import type { ModelProvider } from '../provider.ts'
import { createSdkProvider } from '../sdk-provider.ts'
import { readServerEvents } from '../reading/server-events.ts'
import { toChatRequest } from './chat.ts'
import { collectChunks } from './chat-stream.ts'
import { collectResponse } from './response-stream.ts'
import { createResponseSender } from './responses.ts'
import { createOpenaiSender, type OpenaiParts } from './send.ts'

/**
 * The Responses API, except for compatible servers, for an address that ends in `/chat/completions`, and for a model with
 * `stop_sequences`, which only chat completions know.
 */
export function createOpenaiProvider(parts: OpenaiParts): ModelProvider {
  const isChatOnly = parts.vendor === 'compatible' || /\/chat\/completions\/?$/.test(parts.baseUrl ?? '')
  const send = createOpenaiSender(parts)
  const load = () => Promise.resolve(send)
  const chat = createSdkProvider(parts, {
    load,
    open: async (send, request, signal) => {
      const body = toChatRequest(request, parts.vendor === 'compatible')
      // An answer that came whole has messages where a stream has deltas.
      return readServerEvents(await send('/chat/completions', body, request, signal), (whole) => [whole])
    },
    collect: collectChunks,
  })
  if (isChatOnly) return chat
  const responses = createSdkProvider(parts, { load, open: createResponseSender(), collect: collectResponse })
  return {
    complete: (request, signal) =>
      (request.model.parameters?.stop_sequences === undefined ? responses : chat).complete(request, signal),
  }
}
