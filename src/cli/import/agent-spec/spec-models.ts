/** LLM configurations of Agent Spec, as svc names models. */
import type { JsonObject } from '../../../base/json/json.ts'
import type { ForeignModel } from '../agents/foreign-project.ts'
import { foreignTextOf, numberOf, objectOf } from '../agents/foreign-value.ts'
import { quoteForeign } from '../foreign-text.ts'
import type { LossList } from '../losses.ts'
import { componentTypeOf } from './spec-components.ts'

/** Providers by component type, and by `api_provider` of the general `LlmConfig`. */
const PROVIDERS: Readonly<Record<string, string>> = {
  OpenAiConfig: 'openai',
  openai: 'openai',
  anthropic: 'anthropic',
  GeminiConfig: 'gemini',
  google: 'gemini',
}
const SERVERS: ReadonlySet<string> = new Set(['OpenAiCompatibleConfig', 'VllmConfig', 'OllamaConfig', 'LlmConfig'])

export function readSpecModel(config: JsonObject | undefined, at: string, losses: LossList): ForeignModel {
  if (!config) return { provider: undefined, name: '' }
  const type = componentTypeOf(config)
  const name = foreignTextOf(config['model_id']) ?? ''
  const place = `${at} llm_config`
  const url = foreignTextOf(config['url'])
  const provider = PROVIDERS[type] ?? PROVIDERS[foreignTextOf(config['api_provider']) ?? '']
  if (config['api_key'] !== undefined && config['api_key'] !== null)
    losses.add(place, 'its api_key is not written: set the variable that the document names', true)
  const parameters = objectOf(config['default_generation_parameters'])
  const [temperature, topP, maxTokens] = ['temperature', 'top_p', 'max_tokens'].map((key) => numberOf(parameters[key]))
  for (const [key, value] of Object.entries(parameters))
    if (!['temperature', 'top_p', 'max_tokens'].includes(key) && value !== null)
      losses.add(place, `${quoteForeign(key)} is not carried`)
  if (temperature !== undefined && topP !== undefined) losses.add(place, 'top_p is not carried beside temperature')
  if (objectOf(config['retry_policy'])['max_attempts'] !== undefined)
    losses.add(place, 'its retry policy is not carried: svc has its own')
  const common = {
    name,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(maxTokens !== undefined && maxTokens > 0 && { maxTokens }),
  }
  if (provider !== undefined && url === undefined && name !== '' && usesKey(config)) return { provider, ...common }
  const address = url !== undefined && (SERVERS.has(type) || provider === 'openai') ? endpointOf(url) : undefined
  if (address !== undefined && name !== '') return { provider: 'openai-compatible', baseUrl: address, ...common }
  losses.add(place, `no provider of svc is ${quoteForeign(type)}${url === undefined ? '' : ' at this address'}`)
  return { provider: undefined, ...common }
}

/** Vertex AI takes the identity of a machine, not a key. */
const usesKey = (config: JsonObject): boolean =>
  componentTypeOf(objectOf(config['auth'])) !== 'GeminiVertexAIAuthConfig'

/** `localhost:8000`, or an address with or without its path. Undefined where it may hold a secret. */
function endpointOf(given: string): string | undefined {
  const isWhole = /^https?:\/\//i.test(given)
  const text = isWhole ? given : `http://${given}`
  // A word alone is a placeholder.
  if (!URL.canParse(text) || (!isWhole && !/[.:]/.test(given) && given !== 'localhost')) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || /[\s{}$<>]/.test(given)) return undefined
  const path = url.pathname.replace(/\/(?:chat\/completions)?\/?$/, '')
  return `${url.origin}${path === '' ? '/v1' : path}`
}
