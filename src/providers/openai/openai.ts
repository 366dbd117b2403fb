/** OpenAI, compatible servers and Azure OpenAI through the official SDK. Source: docs/design/models-and-tools.md#attempts */
import type { ModelProvider } from '../provider.ts'
import { createSdkProvider, sendOptions } from '../sdk-provider.ts'
import { readServerEvents } from '../reading/server-events.ts'
import { toChatRequest } from './chat.ts'
import { collectChunks } from './chat-stream.ts'
import { loadOpenaiClient, type OpenaiClientParts } from './client.ts'
import { collectResponse } from './response-stream.ts'
import { createResponseSender } from './responses.ts'

/**
 * The Responses API, except for compatible servers, for an address that ends in `/chat/completions`, and for a model with
 * `stop_sequences`, which only chat completions know.
 */
export function createOpenaiProvider(parts: OpenaiClientParts): ModelProvider {
  const isChatOnly = parts.vendor === 'compatible' || /\/chat\/completions\/?$/.test(parts.baseUrl ?? '')
  let loading: ReturnType<typeof loadOpenaiClient> | undefined
  const load = () => (loading ??= loadOpenaiClient(parts))
  const chat = createSdkProvider(parts, {
    load,
    open: async (client, request, signal) => {
      const options = { signal, ...sendOptions(request) }
      const asked = client.chat.completions.create(toChatRequest(request, parts.vendor === 'compatible'), options)
      // An answer that came whole has messages where a stream has deltas.
      return readServerEvents(await asked.asResponse(), (whole) => [whole])
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
