/** Resolves a provider name of the documents: its entry in svc.config.yaml, and its type. */
import type { ProjectConfig, ProviderConfig, ProviderType } from '../../spec/project/config.ts'
import { canonicalProvider, ONLINE_PROVIDERS, providerSpellings } from '../../spec/document.ts'

const BUILT_IN: readonly ProviderType[] = [...ONLINE_PROVIDERS, 'scripted', 'replay', 'auto']

/** The entry of the config for a provider, under any spelling of its name. */
export const mappingOf = (config: ProjectConfig['providers'], provider: string): ProviderConfig | undefined =>
  [provider, ...providerSpellings(provider)]
    .map((name) => (config && Object.hasOwn(config, name) ? config[name] : undefined))
    .find(Boolean)

/** The type of a provider; undefined for a name that nobody maps. */
export const providerTypeOf = (config: ProjectConfig['providers'], provider: string): ProviderType | undefined =>
  mappingOf(config, provider)?.type ?? BUILT_IN.find((each) => each === canonicalProvider(provider))
