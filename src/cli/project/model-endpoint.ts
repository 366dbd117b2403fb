/** The address at which the server reaches a model. */
import { BASE_URL_VARIABLES, type ProjectConfig, type ProviderType } from '../../spec/project/config.ts'
import { canonicalProvider, OFFLINE_PROVIDERS, providerSpellings } from '../../spec/document.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface ModelEndpoint {
  readonly type: ProviderType
  /** Without a slash at its end. */
  readonly baseUrl: string
}

const DEFAULT_URLS: Readonly<Partial<Record<ProviderType, string>>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com',
}

/**
 * Undefined for models that need no network, and where no address is configured, as for Bedrock, which has one per region.
 */
export function modelEndpoint(
  { provider, base_url: own }: { readonly provider: string; readonly base_url?: string | undefined },
  { providers = {} }: ProjectConfig,
  env: Readonly<Record<string, string | undefined>>,
): ModelEndpoint | undefined {
  const mapped = mappingOf(provider, providers)
  const type = typeOf(provider, providers)
  if (OFFLINE_PROVIDERS.includes(type)) return undefined
  const given = own ?? mapped?.base_url ?? env[BASE_URL_VARIABLES[type] ?? ''] ?? DEFAULT_URLS[type]
  return given === undefined ? undefined : { type, baseUrl: given.replace(/\/(?:chat\/completions)?\/?$/, '') }
}

/** True for models that need neither a key nor a network. */
export const isOffline = (provider: string, { providers = {} }: ProjectConfig): boolean =>
  OFFLINE_PROVIDERS.includes(typeOf(provider, providers))

const typeOf = (provider: string, providers: NonNullable<ProjectConfig['providers']>): ProviderType =>
  mappingOf(provider, providers)?.type ?? (canonicalProvider(provider) as ProviderType)

const mappingOf = (provider: string, providers: NonNullable<ProjectConfig['providers']>) =>
  [provider, ...providerSpellings(provider)].flatMap((name) => ownMember(providers, name) ?? [])[0]
