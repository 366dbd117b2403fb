/** Whether a model lacks the secret that the server needs to call it. */
import type { ProjectConfig } from '../../../spec/project/config.ts'
import { canonicalProvider, OFFLINE_PROVIDERS, providerSpellings, type ModelSpec } from '../../../spec/document.ts'
import { ownMember } from '../../../base/json/own-member.ts'

/** Types that may need no key where the project file declares them: local servers, and AWS with the credentials of the server. */
const KEYLESS_TYPES: readonly string[] = ['openai-compatible', 'bedrock']

/**
 * True for a model without `secret` whose provider needs one, where the agent declares none under the provider's name.
 * @param declared keys of the agent's `secrets`
 */
export function lacksProviderSecret(
  { provider, base_url: address }: Pick<ModelSpec, 'provider' | 'base_url'>,
  declared: readonly string[],
  providers: NonNullable<ProjectConfig['providers']>,
): boolean {
  const names = [provider, ...providerSpellings(provider)]
  const [mapped] = names.flatMap((name) => ownMember(providers, name) ?? [])
  if (OFFLINE_PROVIDERS.includes(mapped?.type ?? canonicalProvider(provider))) return false
  // A document's own address never gets the key of the project file.
  if (mapped && address === undefined && (mapped.key !== undefined || KEYLESS_TYPES.includes(mapped.type))) return false
  return !declared.some((name) => names.includes(name))
}
