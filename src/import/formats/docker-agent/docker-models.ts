/** Models of a configuration of Docker Agent, as svc names them. */
import { objectOf, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { looksLikeValue } from '../../../documents/text/credentials.ts'
import { isSetForOthers } from '../../agents/foreign-server.ts'
import type { ForeignModel } from '../../agents/foreign-project.ts'
import { foreignTextOf, numberOf } from '../../agents/foreign-value.ts'
import { quoteForeign } from '../../foreign-text.ts'
import type { LossList } from '../../losses.ts'
import { ownMember } from '../../../base/json/own-member.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

/** Providers of svc's own, by what Docker Agent calls them. */
const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'gemini',
  'amazon-bedrock': 'bedrock',
}

/** Vendors with a chat-completion endpoint. Source: docs.docker.com/ai/docker-agent/providers/. */
const COMPATIBLE: Readonly<Record<string, readonly [address: string, variable: string | undefined]>> = {
  mistral: ['https://api.mistral.ai/v1', 'MISTRAL_API_KEY'],
  xai: ['https://api.x.ai/v1', 'XAI_API_KEY'],
  nebius: ['https://api.studio.nebius.com/v1', 'NEBIUS_API_KEY'],
  ollama: ['http://localhost:11434/v1', undefined],
}

const READ = new Set('provider model temperature top_p max_tokens base_url token_key thinking_budget'.split(' '))

/** @param given a name below `models`, or `provider/model` */
export function readDockerModel(
  given: JsonValue | undefined,
  root: JsonObject,
  at: string,
  losses: LossList,
): ForeignModel {
  const written = foreignTextOf(given) ?? ''
  const [name = '', ...others] = written.split(',').map((each) => each.trim())
  if (others.length > 0) losses.add(at, `only the first of its ${others.length + 1} models is used`)
  const models = objectOf(root['models'])
  const [, inlineProvider, inlineModel] = /^([^/]+)\/(.+)$/.exec(name) ?? []
  const isDeclared = Object.hasOwn(models, name)
  const inline = inlineProvider && inlineModel ? { provider: inlineProvider, model: inlineModel } : {}
  const model: JsonObject = isDeclared ? objectOf(models[name]) : inline
  const lose = (what: string, authority = false): void =>
    losses.add(isDeclared ? `models.${name}` : at, what, authority)
  for (const key of Object.keys(model)) if (!READ.has(key)) lose(`${quoteForeign(key)} is not carried`)
  const id = foreignTextOf(model['model'])
  if (id === undefined) return { provider: undefined, name }
  const temperature = numberOf(model['temperature'])
  const topP = numberOf(model['top_p'])
  const maxTokens = numberOf(model['max_tokens'])
  if (temperature !== undefined && topP !== undefined) lose('top_p is not carried beside temperature')
  return {
    ...providerOf(model, root, `${String(foreignTextOf(model['provider']))}/${id}`, lose),
    name: id,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(maxTokens !== undefined && maxTokens > 0 && { maxTokens }),
    ...effortOf(model['thinking_budget'], lose),
  }
}

type Lose = (what: string, authority?: boolean) => void

function effortOf(budget: JsonValue | undefined, lose: Lose): Pick<ForeignModel, 'effort'> {
  if (budget === undefined) return {}
  if (budget === 'low' || budget === 'medium' || budget === 'high') return { effort: budget }
  lose('its thinking budget is no effort of svc (low, medium, high)')
  return {}
}

function providerOf(
  model: JsonObject,
  root: JsonObject,
  shown: string,
  lose: Lose,
): Pick<ForeignModel, 'provider' | 'baseUrl' | 'keyVariable'> {
  const named = foreignTextOf(model['provider']) ?? ''
  const custom = objectOf(objectOf(root['providers'])[named])
  const given = foreignTextOf(model['base_url']) ?? foreignTextOf(custom['base_url'])
  const own = ownMember(PROVIDERS, named)
  const [usual, usualVariable] = ownMember(COMPATIBLE, named) ?? []
  const variable = foreignTextOf(model['token_key']) ?? foreignTextOf(custom['token_key'])
  const address = given ?? usual
  if (own !== undefined && given === undefined) {
    if (variable !== undefined && !isVariable(variable)) lose('its token_key is no variable and is not written', true)
    return { provider: own, ...(variable !== undefined && isVariable(variable) && { keyVariable: variable }) }
  }
  if (address === undefined || !isUsableAddress(address)) {
    lose(`no provider of svc is ${quoteForeign(shown)}`)
    return { provider: undefined }
  }
  if (own !== undefined && own !== 'openai') {
    lose(`svc calls ${own} at its own address only: ${quoteForeign(shown)} has another`, true)
    return { provider: undefined }
  }
  if (variable !== undefined && (!isVariable(variable) || isSetForOthers(variable))) {
    lose('its token_key is set for something else, or no variable, and is not sent to its base_url', true)
    return { provider: 'openai-compatible', baseUrl: address }
  }
  const keyVariable = variable ?? (given === undefined ? usualVariable : undefined)
  return { provider: 'openai-compatible', baseUrl: address, ...(keyVariable !== undefined && { keyVariable }) }
}

/** A key in the place of a variable is none. */
const isVariable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) && !looksLikeValue(name)

/** Without variables, and without a user, a password or a query, which may be secrets. */
function isUsableAddress(address: string): boolean {
  if (/\$/.test(address) || parseUrl(address) === undefined) return false
  const { protocol, username, password, search } = new URL(address)
  return /^https?:$/.test(protocol) && username === '' && password === '' && search === ''
}
