/** OpenAI, compatible servers and Azure OpenAI through the official SDK. Source: docs/design/models-and-tools.md#attempts */
import type { ModelProvider } from '../provider.ts'
import { createSdkProvider, type SdkParts } from '../sdk-provider.ts'
import { withErrorText } from '../reading/error-text.ts'
import { createChatSender } from './chat-sender.ts'
import { collectChunks } from './chat-stream.ts'
import { collectResponse } from './response-stream.ts'
import { createResponseSender } from './responses.ts'
import type OpenAI from 'openai'
import { expectDefined } from '../../base/values/expect-defined.ts'

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
    open: createChatSender(parts.vendor === 'compatible'),
    collect: collectChunks,
  })
  if (isChatOnly) return chat
  const responses = createSdkProvider(parts, { load, open: createResponseSender(), collect: collectResponse })
  return {
    complete: (request, signal) =>
      (request.model.parameters?.stop_sequences === undefined ? responses : chat).complete(request, signal),
  }
}

interface OpenaiClientParts extends SdkParts {
  /**
   * `compatible` is a server other than OpenAI: it gets no OpenAI organization of the environment, and may need no key. `azure` is
   * a resource of Azure OpenAI.
   */
  readonly vendor: 'openai' | 'compatible' | 'azure'
  /** The dated API of Azure, for example `2025-04-01-preview`; its undated v1 API when absent. */
  readonly apiVersion?: string
}

async function loadOpenaiClient(parts: OpenaiClientParts): Promise<OpenAI> {
  const { key, vendor, baseUrl, apiVersion, fetch } = parts
  const { OpenAI: Client, AzureOpenAI: AzureClient } = await import('openai')
  const apiKey = key?.reveal() ?? 'none'
  // Documents give either the full endpoint or the base URL.
  const given = baseUrl?.replace(/\/+$/, '').replace(/\/(chat\/completions|responses)$/, '')
  const shared = {
    apiKey,
    maxRetries: 0,
    logLevel: 'off',
    fetch: withErrorText(fetch),
    // The SDK reads both from the environment; only OpenAI may receive them.
    ...(vendor !== 'openai' && { organization: null, project: null }),
  } as const
  if (vendor !== 'azure')
    return new Client({
      ...shared,
      ...(key === undefined && { defaultHeaders: { Authorization: null } }),
      baseURL: given ?? 'https://api.openai.com/v1',
    })
  const resource = expectDefined(given, 'the address of a resource of Azure is required').replace(
    /\/openai(\/v1)?$/,
    '',
  )
  return apiVersion === undefined
    ? new Client({
        ...shared,
        baseURL: `${resource}/openai/v1`,
        defaultHeaders: { Authorization: null, 'api-key': apiKey },
      })
    : new AzureClient({ ...shared, apiVersion, baseURL: `${resource}/openai` })
}
