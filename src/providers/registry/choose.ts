import { systemClock, type Clock } from '../../base/clock.ts'
import { createEgress } from '../../base/net/egress.ts'
import type { OwnListeners } from '../../base/net/own-listeners.ts'
import { fail } from '../../base/failure.ts'
import { Secret, type Redactor } from '../../base/secret.ts'
import {
  BASE_URL_VARIABLES,
  type ProjectConfig,
  type ProviderConfig,
  type ProviderType,
} from '../../spec/project/config.ts'
import { canonicalProvider, ONLINE_PROVIDERS, providerSpellings } from '../../spec/document.ts'
import { isExternalModel } from '../../spec/external.ts'
import type { SnapshotModel } from '../../spec/snapshot.ts'
import { vendorToolLimits } from '../../spec/vendor-tool-limits.ts'
import { createAnthropicProvider } from '../anthropic/anthropic.ts'
import { createBedrockProvider } from '../bedrock/bedrock.ts'
import { createGeminiProvider } from '../gemini/gemini.ts'
import { autoProvider } from '../auto.ts'
import { externalProvider } from '../external.ts'
import { maxOutputTokens } from '../output-limit.ts'
import { termsOf } from '../prices/prices.ts'
import { createOpenaiProvider } from '../openai/openai.ts'
import type { ProviderRemedies } from '../sdk-error.ts'
import type { SdkParts } from '../sdk-provider.ts'
import type { ModelProvider, ModelProviders } from '../provider.ts'
import { withToolMedia } from '../tool-media.ts'
import { acceptedMedia } from '../vendor-media.ts'
import { withVendorToolForms } from '../vendor-tool-forms.ts'
import { mappingOf, providerTypeOf } from './provider-type.ts'
import type { waitOrAbort } from '../offline-answer.ts'
import { createScripted, scriptedProvider } from '../scripted.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface ProviderParts {
  /** `providers:` of the project config: additional names, or another address for a known name. */
  readonly config?: ProjectConfig['providers']
  /** `prices:` of the project config. */
  readonly prices?: ProjectConfig['prices']
  /** Environment for `fromEnv` of secrets and for the SDKs' base URL variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Receives every secret of an agent before a request is sent. */
  readonly redactor: Redactor
  /** Replaces every provider except `scripted` with `auto`, and requires no secret. */
  readonly offline?: boolean
  readonly clock?: Clock
  /** Hosts that a document's `base_url` may name although their addresses are private. */
  readonly allowedHosts?: readonly string[]
  /** Requests to models must not reach them. */
  readonly ownListeners?: OwnListeners
  /** Waits for the delays of scripted models. */
  readonly wait?: typeof waitOrAbort
}

export function createProviders({
  config,
  prices,
  env,
  redactor,
  offline = false,
  clock = systemClock,
  wait,
  allowedHosts = [],
  ownListeners,
}: ProviderParts): ModelProviders {
  /** One client per address and key, so that runs share connections. */
  const clients = new Map<string, ModelProvider>()
  const shared = {
    allowedHosts,
    ...(ownListeners && { ownListeners }),
    keepAlive: true,
    plainBodies: true,
    idleMs: IDLE_TIMEOUT_MS,
  }
  const egress = {
    document: createEgress({ ...shared, from: 'document', plain: true }),
    config: createEgress({ ...shared, from: 'config' }),
  }
  const script = wait ? createScripted(wait) : scriptedProvider
  const typeOf = ({ provider }: SnapshotModel) => providerTypeOf(config, provider)
  return {
    choose(agent, model) {
      const notConfigured = (fix?: string) =>
        fail('provider_not_configured', { provider: model.provider, agent: agent.id }, fix === undefined ? {} : { fix })
      if (isExternalModel(model)) return externalProvider
      const mapped = mappingOf(config, model.provider)
      const type = typeOf(model)
      if (type === 'scripted') return script
      if (type === undefined) throw notConfigured()
      if (offline || type === 'auto') return autoProvider
      if (type === 'replay') throw notConfigured('Replay a recorded run with `svc run --replay FILE`.')

      for (const { fromEnv } of Object.values(agent.secrets)) if (env[fromEnv]) redactor.add(env[fromEnv])
      const found = keyOf(agent.secrets, model, type, mapped, env)
      if (found) redactor.add(found.key)
      const baseUrl = model.base_url ?? mapped?.base_url ?? env[BASE_URL_VARIABLES[type] ?? '']
      if (baseUrl === undefined && ADDRESSED_TYPES.includes(type))
        throw notConfigured(`Give ${describeAddress(type)}, under \`providers:\` in svc.config.yaml.`)
      const address = baseUrl === undefined ? undefined : parseUrl(baseUrl)
      if (baseUrl !== undefined && !/^https?:$/.test(address?.protocol ?? ''))
        throw notConfigured('The base_url of a provider begins with http:// or https://.')
      const region = mapped?.region ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION']
      if (type === 'bedrock' && region === undefined)
        throw notConfigured('Give the provider a region under `providers:` in svc.config.yaml, or set AWS_REGION.')

      // The author of a document is not trusted with the network like the operator who writes the config.
      const from = model.base_url === undefined ? 'config' : 'document'
      const peer = `${model.provider}${address === undefined ? '' : ` (${address.host})`}`
      const id = JSON.stringify([
        peer,
        type,
        baseUrl,
        from,
        found?.env,
        found?.key.reveal(),
        region,
        mapped?.api_version,
      ])
      let client = clients.get(id)
      if (!client) {
        const parts = {
          ...(found && { key: found.key }),
          ...(baseUrl !== undefined && { baseUrl }),
          peer,
          redactor,
          clock,
          fetch: egress[from],
          remedies: remediesOf(type, found?.env, region),
        }
        const opened = withVendorToolForms(openProvider(type, parts, region, mapped), vendorToolLimits(type))
        client = withToolMedia(opened, (name) => acceptedMedia(type, name, mapped?.media))
        clients.set(id, client)
      }
      return client
    },
    maxOutputTokens: (model) => maxOutputTokens(model, typeOf(model)),
    terms(model) {
      const type = typeOf(model)
      const address = model.base_url ?? mappingOf(config, model.provider)?.base_url
      return termsOf(model, offline ? 'auto' : type, address, prices, clock.now())
    },
  }
}

/**
 * How long a model may send nothing: as long as the vendors' clients wait for the first byte. Without it a dead connection
 * would block its run for ever.
 */
const IDLE_TIMEOUT_MS = 10 * 60_000

type OnlineType = (typeof ONLINE_PROVIDERS)[number]

function openProvider(
  type: OnlineType,
  parts: SdkParts,
  region: string | undefined,
  config: ProviderConfig | undefined,
): ModelProvider {
  switch (type) {
    case 'anthropic':
      return createAnthropicProvider(parts)
    case 'openai':
      return createOpenaiProvider({ ...parts, vendor: 'openai' })
    case 'openai-compatible':
      return createOpenaiProvider({ ...parts, vendor: 'compatible' })
    case 'azure-openai': {
      const apiVersion = config?.api_version
      return createOpenaiProvider({ ...parts, vendor: 'azure', ...(apiVersion !== undefined && { apiVersion }) })
    }
    case 'gemini':
      return createGeminiProvider(parts)
    case 'bedrock':
      return createBedrockProvider({ ...parts, region: region! })
  }
}

/** Advice for requests that a vendor refuses. */
function remediesOf(type: OnlineType, keyVariable: string | undefined, region: string | undefined): ProviderRemedies {
  const model = {
    'azure-openai': 'Check that model.name is the name of a deployment of this resource.',
    bedrock: `Check model.name, and that the account may use it in ${region}.`,
    'openai-compatible': 'Check model.name and base_url.',
    openai: 'Check model.name; a server other than OpenAI is of type openai-compatible.',
    anthropic: 'Check model.name.',
    gemini: 'Check model.name.',
  }[type]
  return {
    key: keyVariable === undefined ? KEYLESS_REMEDIES[type] : `Check the key in ${keyVariable}.`,
    model,
    address: type === 'bedrock' ? `Check the region ${region}.` : 'Check base_url.',
  }
}

const KEYLESS_REMEDIES: Readonly<Record<OnlineType, string>> = {
  bedrock: 'Check the AWS credentials of the server.',
  'openai-compatible': 'The server wants a key: give its provider one under `providers:` in svc.config.yaml.',
  'azure-openai': 'Give the provider a key.',
  openai: 'Give the provider a key.',
  anthropic: 'Give the provider a key.',
  gemini: 'Give the provider a key.',
}

/** Types without an address of their own. */
const ADDRESSED_TYPES: readonly ProviderType[] = ['openai-compatible', 'azure-openai']

const describeAddress = (type: ProviderType): string =>
  type === 'azure-openai'
    ? 'the provider the base_url of the Azure resource'
    : 'the model a base_url, or the provider one'

interface ProviderKey {
  readonly key: Secret
  /** Environment variable with the address. */
  readonly env: string
}

/**
 * The secret that `model.secret` names, else the one named like the provider, else the key of the project config. The config's
 * key goes to no address that a document gives.
 * @returns undefined where none is needed
 * @throws Failure `secret_not_set`
 */
function keyOf(
  secrets: Readonly<Record<string, { readonly fromEnv: string }>>,
  model: SnapshotModel,
  type: ProviderType,
  mapped: ProviderConfig | undefined,
  env: ProviderParts['env'],
): ProviderKey | undefined {
  const name =
    model.secret ?? [model.provider, ...providerSpellings(model.provider)].find((each) => Object.hasOwn(secrets, each))
  const declared = name !== undefined && Object.hasOwn(secrets, name) ? secrets[name] : undefined
  const own = name === undefined && model.base_url === undefined ? mapped?.key : undefined
  const source = declared ?? own
  if (source === undefined) {
    // A local model server often needs no key, and AWS takes the credentials of the server where its operator says so.
    if (name === undefined && (type === 'openai-compatible' || (type === 'bedrock' && mapped !== undefined)))
      return undefined
    const missing = name ?? canonicalProvider(model.provider)
    throw fail('secret_not_set', { secret: missing, env: DEFAULT_VARIABLES[type] ?? missing })
  }
  const value = env[source.fromEnv]
  if (!value) throw fail('secret_not_set', { secret: name ?? model.provider, env: source.fromEnv })
  return { key: new Secret(value), env: source.fromEnv }
}

const DEFAULT_VARIABLES: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  gemini: 'GEMINI_API_KEY',
  'azure-openai': 'AZURE_OPENAI_API_KEY',
  bedrock: 'AWS_BEARER_TOKEN_BEDROCK',
}
