/** Which secrets the agents of a project need, and whether each is there. Never a value. */
import { hash } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { IdentifiedDocument } from '../../documents/text/document.ts'
import { segmentsOf } from '../../base/json/pointer.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import { providerSpellings } from '../../spec/document.ts'
import { findProgramConfig } from '../../tools/mcp/mcp-programs.ts'
import type { FileVariable } from './dot-env.ts'
import { isOffline, modelEndpoint, type ModelEndpoint } from './model-endpoint.ts'
import { ownMember } from '../../base/json/own-member.ts'

type EnvVariables = Readonly<Record<string, string | undefined>>

export type SecretState = 'ok' | 'missing' | 'empty' | 'whitespace' | 'placeholder' | 'rejected' | 'unreachable'

export interface SecretCheck {
  readonly agent: string
  readonly name: string
  readonly env: string
  readonly state: SecretState
  /** `environment`, `.env:3`, or null. */
  readonly source: string | null
  /** `model anthropic`, `mcp orders`; empty if nothing uses it, so that a missing value is no error. */
  readonly usedBy: readonly string[]
  /** Length and four digits of a digest: enough to tell two values apart. */
  readonly seen?: string
}

/** A check, and what a request that proves the value needs. */
export interface SecretProbe {
  readonly shown: SecretCheck
  readonly value: string
  readonly model?: ModelEndpoint
}

/** The secrets that an agent declares, and the key of its provider in the project file; none is read from anywhere else than the arguments. */
export function checksOfAgent(
  document: IdentifiedDocument,
  config: ProjectConfig,
  files: ReadonlyMap<string, FileVariable>,
  env: EnvVariables,
): readonly SecretProbe[] {
  const [provider = '', secret, ownUrl] = ['provider', 'secret', 'base_url'].map(
    (name) => document.texts(`spec.model.${name}`)[0]?.value,
  )
  const model = modelEndpoint({ provider, base_url: ownUrl }, config, env)
  const keyed = secret === undefined ? providerSpellings(provider) : [secret]
  const servers = document.at('spec.mcp_servers.*').flatMap(({ value }) => (isJsonObject(value) ? [value] : []))
  const programOf = ({ url }: JsonObject) => (typeof url === 'string' ? findProgramConfig(config, url) : undefined)
  const usedByServer = ({ name }: JsonObject): string => `mcp ${typeof name === 'string' ? name : '?'}`
  const agent = document.identity.id
  const probe = (name: string, fromEnv: string, ofModel: boolean, others: readonly string[]): SecretProbe => {
    const set = env[fromEnv]
    const file = files.get(fromEnv)
    const value = set ?? file?.value
    const state = stateOf(value)
    const shown: SecretCheck = {
      agent,
      name,
      env: fromEnv,
      state,
      source: set !== undefined ? 'environment' : (file?.place ?? null),
      usedBy: [...(ofModel ? [`model ${provider}`] : []), ...others],
      ...(value !== undefined &&
        state === 'ok' && { seen: `${value.length} chars, ${hash('sha256', value, 'hex').slice(0, 4)}` }),
    }
    return { shown, value: value ?? '', ...(ofModel && model && { model }) }
  }
  const declared = document.texts('secrets.*.fromEnv').map(({ value: fromEnv, pointer }) => {
    const name = segmentsOf(pointer)[1] ?? ''
    const ofServers = servers
      .filter((server) => !programOf(server) && isJsonObject(server['auth']) && server['auth']['secret'] === name)
      .map(usedByServer)
    return probe(name, fromEnv, keyed.includes(name) && !isOffline(provider, config), ofServers)
  })
  const ofPrograms = servers.flatMap((server) =>
    (programOf(server)?.env ?? []).map((variable) =>
      probe('mcp_servers.*.env', variable, false, [usedByServer(server)]),
    ),
  )
  const providers = config.providers ?? {}
  const key = ownMember(providers, provider)?.key
  const isNamed = secret !== undefined || declared.some(({ shown: { name } }) => keyed.includes(name))
  return key === undefined || isNamed || isOffline(provider, config)
    ? [...declared, ...ofPrograms]
    : [...declared, ...ofPrograms, probe(`providers.${provider}.key`, key.fromEnv, true, [])]
}

/** Placeholder values from examples. */
const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|\.{3}|…|x{3,}|\*{3,}|change[-_ ]?me|todo|placeholder|secret|your[-_ ].*|(?:sk-)?(?:\.{3}|…|x{3,}))$/i

function stateOf(value: string | undefined): SecretState {
  if (value === undefined) return 'missing'
  if (value === '') return 'empty'
  if (value.trim() !== value) return 'whitespace'
  return PLACEHOLDER.test(value) ? 'placeholder' : 'ok'
}
