import { systemClock, type Clock } from '../base/clock.ts'
import { createEgress } from '../base/egress.ts'
import { fail } from '../base/failure.ts'
import { Secret, type Redactor } from '../base/secret.ts'
import type { ProjectConfig, ProviderType } from '../spec/config.ts'
import { canonicalProvider, providerSpellings } from '../spec/document.ts'
import type { SnapshotModel } from '../spec/snapshot.ts'
import { createAnthropic } from './anthropic.ts'
import { autoProvider } from './auto.ts'
import { mostOutput } from './bound.ts'
import { createOpenai } from './openai.ts'
import type { ModelProvider, ModelProviders } from './provider.ts'
import type { waitOrAbort } from './play.ts'
import { createScripted, scriptedProvider } from './scripted.ts'

export interface ProviderParts {
  /** `providers:` of the project config: further names, or another address for a known one. */
  readonly config?: ProjectConfig['providers']
  /** Where `fromEnv` and the SDKs' own base addresses are looked up. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Learns every secret of an agent before anything is sent. */
  readonly redactor: Redactor
  /** Every provider becomes `auto`, except `scripted`; no secret is asked for. */
  readonly offline?: boolean
  readonly clock?: Clock
  /** Hosts of a document's `base_url` whose addresses may be private. */
  readonly allowedHosts?: readonly string[]
  /** Ports on which this process listens, which no model may be at. */
  readonly ownPorts?: ReadonlySet<number>
  /** How the delays of scripted models pass. */
  readonly wait?: typeof waitOrAbort
}

export function createProviders({
  config,
  env,
  redactor,
  offline = false,
  clock = systemClock,
  wait,
  allowedHosts = [],
  ownPorts = new Set(),
}: ProviderParts): ModelProviders {
  /** One client per address and key, so that connections are kept between runs. */
  const clients = new Map<string, ModelProvider>()
  const way = { allowedHosts, ownPorts, keepAlive: true, idleMs: SILENCE_MS }
  const ways = {
    document: createEgress({ ...way, from: 'document', plain: true }),
    config: createEgress({ ...way, from: 'config' }),
  }
  const script = wait ? createScripted(wait) : scriptedProvider
  const typeOf = ({ provider }: SnapshotModel): ProviderType | undefined =>
    mappingOf(config, provider)?.type ?? builtIn(provider)
  return {
    choose(agent, model) {
      const notConfigured = (fix?: string) =>
        fail('provider_not_configured', { provider: model.provider, agent: agent.id }, fix === undefined ? {} : { fix })
      const mapped = mappingOf(config, model.provider)
      const type = typeOf(model)
      if (type === 'scripted') return script
      if (type === undefined) throw notConfigured()
      if (offline || type === 'auto') return autoProvider
      if (type === 'replay') throw notConfigured('Recorded runs are played by `svc run --replay FILE`.')

      for (const { fromEnv } of Object.values(agent.secrets)) if (env[fromEnv]) redactor.add(env[fromEnv])
      const key = keyOf(agent.secrets, model, type, env)
      const baseUrl = model.base_url ?? mapped?.base_url ?? env[BASE_URL_VARIABLES[type] ?? '']
      if (type === 'openai-compatible' && baseUrl === undefined)
        throw notConfigured('Give the model a base_url, or the provider one under `providers:` in svc.config.yaml.')

      // A document's address is its author's, whoever holds the key.
      const from = model.base_url === undefined ? 'config' : 'document'
      const id = JSON.stringify([type, baseUrl, from, key?.reveal()])
      let client = clients.get(id)
      if (!client) {
        const parts = {
          ...(key && { key }),
          ...(baseUrl !== undefined && { baseUrl }),
          redactor,
          clock,
          fetch: ways[from],
        }
        client =
          type === 'anthropic'
            ? createAnthropic(parts)
            : createOpenai({ ...parts, compatible: type === 'openai-compatible' })
        clients.set(id, client)
      }
      return client
    },
    mostOutput: (model) => mostOutput(model, typeOf(model)),
  }
}

/**
 * How long a model may say nothing, as the vendors' own clients wait for its first word: a connection that is dead without
 * saying so would else hold its run for ever.
 */
const SILENCE_MS = 10 * 60_000

const BASE_URL_VARIABLES: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'OPENAI_BASE_URL',
  anthropic: 'ANTHROPIC_BASE_URL',
}

const BUILT_IN: readonly ProviderType[] = ['anthropic', 'openai', 'openai-compatible', 'scripted', 'replay', 'auto']
const builtIn = (provider: string): ProviderType | undefined =>
  BUILT_IN.find((each) => each === canonicalProvider(provider))

/** The config's entry for a provider, under any spelling of its name. */
const mappingOf = (config: ProjectConfig['providers'], provider: string) =>
  [provider, ...providerSpellings(provider)]
    .map((name) => (config && Object.hasOwn(config, name) ? config[name] : undefined))
    .find(Boolean)

/** The secret that `model.secret` names, else one named after the provider. @throws Failure `secret_not_set` */
function keyOf(
  secrets: Readonly<Record<string, { readonly fromEnv: string }>>,
  model: SnapshotModel,
  type: ProviderType,
  env: ProviderParts['env'],
): Secret | undefined {
  const name =
    model.secret ?? [model.provider, ...providerSpellings(model.provider)].find((each) => Object.hasOwn(secrets, each))
  if (name === undefined || !Object.hasOwn(secrets, name)) {
    // A model server on one's own machine often asks for no key; the two vendors always do.
    if (type === 'openai-compatible' && name === undefined) return undefined
    const missing = name ?? canonicalProvider(model.provider)
    throw fail('secret_not_set', {
      secret: missing,
      env: secrets[missing]?.fromEnv ?? DEFAULT_VARIABLES[type] ?? missing,
    })
  }
  const { fromEnv } = secrets[name]!
  const value = env[fromEnv]
  if (!value) throw fail('secret_not_set', { secret: name, env: fromEnv })
  return new Secret(value)
}

const DEFAULT_VARIABLES: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
}
