import { systemClock, type Clock } from '../base/clock.ts'
import { createEgress } from '../base/egress.ts'
import { fail } from '../base/failure.ts'
import { Secret, type Redactor } from '../base/secret.ts'
import type { ProjectConfig, ProviderType } from '../spec/config.ts'
import { canonicalProvider, providerSpellings } from '../spec/document.ts'
import type { SnapshotModel } from '../spec/snapshot.ts'
import { createAnthropicProvider } from './anthropic.ts'
import { autoProvider } from './auto.ts'
import { maxOutputTokens } from './output-limit.ts'
import { createOpenaiProvider } from './openai.ts'
import type { ModelProvider, ModelProviders } from './provider.ts'
import type { waitOrAbort } from './offline-answer.ts'
import { createScripted, scriptedProvider } from './scripted.ts'

export interface ProviderParts {
  /** `providers:` of the project config: additional names, or another address for a known name. */
  readonly config?: ProjectConfig['providers']
  /** Environment for `fromEnv` of secrets and for the SDKs' base URL variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Receives every secret of an agent before a request is sent. */
  readonly redactor: Redactor
  /** Replaces every provider except `scripted` with `auto`, and requires no secret. */
  readonly offline?: boolean
  readonly clock?: Clock
  /** Hosts that a document's `base_url` may name although their addresses are private. */
  readonly allowedHosts?: readonly string[]
  /** Ports on which this process listens; requests to models must not reach them. */
  readonly ownPorts?: ReadonlySet<number>
  /** Waits for the delays of scripted models. */
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
  /** One client per address and key, so that runs share connections. */
  const clients = new Map<string, ModelProvider>()
  const shared = { allowedHosts, ownPorts, keepAlive: true, idleMs: IDLE_TIMEOUT_MS }
  const egress = {
    document: createEgress({ ...shared, from: 'document', plain: true }),
    config: createEgress({ ...shared, from: 'config' }),
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
      if (type === 'replay') throw notConfigured('Replay a recorded run with `svc run --replay FILE`.')

      for (const { fromEnv } of Object.values(agent.secrets)) if (env[fromEnv]) redactor.add(env[fromEnv])
      const key = keyOf(agent.secrets, model, type, env)
      const baseUrl = model.base_url ?? mapped?.base_url ?? env[BASE_URL_VARIABLES[type] ?? '']
      if (type === 'openai-compatible' && baseUrl === undefined)
        throw notConfigured('Give the model a base_url, or the provider one under `providers:` in svc.config.yaml.')

      // The author of a document is not trusted with the network like the operator who writes the config.
      const from = model.base_url === undefined ? 'config' : 'document'
      const id = JSON.stringify([type, baseUrl, from, key?.reveal()])
      let client = clients.get(id)
      if (!client) {
        const parts = {
          ...(key && { key }),
          ...(baseUrl !== undefined && { baseUrl }),
          redactor,
          clock,
          fetch: egress[from],
        }
        client =
          type === 'anthropic'
            ? createAnthropicProvider(parts)
            : createOpenaiProvider({ ...parts, compatible: type === 'openai-compatible' })
        clients.set(id, client)
      }
      return client
    },
    maxOutputTokens: (model) => maxOutputTokens(model, typeOf(model)),
  }
}

/**
 * How long a model may send nothing: as long as the vendors' clients wait for the first byte. Without it a dead connection
 * would block its run for ever.
 */
const IDLE_TIMEOUT_MS = 10 * 60_000

const BASE_URL_VARIABLES: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'OPENAI_BASE_URL',
  anthropic: 'ANTHROPIC_BASE_URL',
}

const BUILT_IN: readonly ProviderType[] = ['anthropic', 'openai', 'openai-compatible', 'scripted', 'replay', 'auto']
const builtIn = (provider: string): ProviderType | undefined =>
  BUILT_IN.find((each) => each === canonicalProvider(provider))

/** The entry of the config for a provider, under any spelling of its name. */
const mappingOf = (config: ProjectConfig['providers'], provider: string) =>
  [provider, ...providerSpellings(provider)]
    .map((name) => (config && Object.hasOwn(config, name) ? config[name] : undefined))
    .find(Boolean)

/** The secret that `model.secret` names, else the one named like the provider. @throws Failure `secret_not_set` */
function keyOf(
  secrets: Readonly<Record<string, { readonly fromEnv: string }>>,
  model: SnapshotModel,
  type: ProviderType,
  env: ProviderParts['env'],
): Secret | undefined {
  const name =
    model.secret ?? [model.provider, ...providerSpellings(model.provider)].find((each) => Object.hasOwn(secrets, each))
  if (name === undefined || !Object.hasOwn(secrets, name)) {
    // A local model server often needs no key; the two vendors always do.
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
