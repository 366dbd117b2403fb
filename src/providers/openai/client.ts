/** Opens the official SDK for OpenAI, for compatible servers and for Azure. Loaded with the first completion. */
import type OpenAI from 'openai'
import type { SdkParts } from '../sdk-provider.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

export interface OpenaiClientParts extends SdkParts {
  /**
   * `compatible` is a server other than OpenAI: it gets no OpenAI organization of the environment, and may need no key. `azure` is
   * a resource of Azure OpenAI.
   */
  readonly vendor: 'openai' | 'compatible' | 'azure'
  /** The dated API of Azure, for example `2025-04-01-preview`; its undated v1 API when absent. */
  readonly apiVersion?: string
}

export async function loadOpenaiClient(parts: OpenaiClientParts): Promise<OpenAI> {
  const { key, vendor, baseUrl, apiVersion, fetch } = parts
  const { OpenAI: Client, AzureOpenAI: AzureClient } = await import('openai')
  const apiKey = key?.reveal() ?? 'none'
  // Documents give either the full endpoint or the base URL.
  const given = baseUrl?.replace(/\/+$/, '').replace(/\/(chat\/completions|responses)$/, '')
  const shared = {
    apiKey,
    maxRetries: 0,
    logLevel: 'off',
    fetch,
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
