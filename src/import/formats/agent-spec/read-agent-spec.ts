/** Reads a configuration of Open Agent Spec, 25 and 26. Source: oracle.github.io/agent-spec/. */
import { isJsonObject, objectOf, listOf, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import type { AgentSource, ForeignAgent, ForeignProject, ForeignModel } from '../../agents/foreign-project.ts'
import { foreignTextOf, numberOf } from '../../agents/foreign-value.ts'
import { reportOddMembers } from '../../agents/odd-members.ts'
import { readSourceText } from '../../agents/source-folder.ts'
import { quoteForeign } from '../../foreign-text.ts'
import { parseSource } from '../../read-source.ts'
import { SpecComponents, componentTypeOf } from './spec-components.ts'
import { readSpecTools, schemaOfProperties, type SpecParts } from './spec-tools.ts'
import type { LossList } from '../../losses.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

/** @throws Failure `usage`, `file_missing`, `file_unusable` */
export async function readAgentSpec({ path, name, more, losses }: AgentSource): Promise<ForeignProject> {
  await Promise.resolve()
  const read = (file: string, shown: string): JsonObject => {
    const value = parseSource(readSourceText(file), shown)
    if (!isJsonObject(value)) throw usageFailure(`${shown} is no component of Agent Spec.`)
    return value
  }
  const root = read(path, name)
  const version = root['agentspec_version']
  if (version !== undefined && !/^2[56]\./.test(String(foreignTextOf(version))))
    losses.add('agentspec_version', `${quoteForeign(version)} is not known here: what is new in it is not carried`)
  const components = new SpecComponents(name)
  for (const each of [root, ...more.map((file) => read(file, file))]) components.declare(each)
  if (componentTypeOf(root) === '')
    throw usageFailure(`${name} is no configuration of Agent Spec: it has no \`component_type\`.`)
  const reader = new AgenticReader({ components, losses })
  const first = reader.read(root, componentTypeOf(root), [])
  const agents = reader.agents()
  if (agents.length === 0)
    throw usageFailure(`${name} is a ${quoteForeign(componentTypeOf(root))} without an agent that can be carried.`)
  return { title: foreignTextOf(root['name']) ?? name, agents, root: first }
}

/** Reads agents and what is made of agents, each component once. */
class AgenticReader {
  readonly #parts: SpecParts
  /** By the component, with the agents that it delegates to. */
  readonly #agents = new Map<string, { readonly agent: ForeignAgent; readonly targets: Set<string> }>()

  readonly #read = new Map<JsonObject, string | undefined>()

  constructor(parts: SpecParts) {
    this.#parts = parts
  }

  agents(): readonly ForeignAgent[] {
    return [...this.#agents.values()].map(({ agent, targets }) => ({ ...agent, agents: [...targets] }))
  }

  /** Name of the agent that stands for a component; undefined for what is not carried. @param around the components it is in */
  read(value: JsonValue | undefined, at: string, around: readonly JsonObject[]): string | undefined {
    const { components } = this.#parts
    const component = components.resolve(value, at)
    if (!component) return undefined
    if (around.includes(component) || around.length > MAX_DEPTH)
      throw usageFailure(`${components.source}: ${at} contains itself, or is nested too deep.`)
    // Components that are shared at every level would be read exponentially often.
    if (!this.#read.has(component)) this.#read.set(component, this.#readOnce(component, around))
    return this.#read.get(component)
  }

  #readOnce(component: JsonObject, around: readonly JsonObject[]): string | undefined {
    const { components, losses } = this.#parts
    const inside = [...around, component]
    const place = `${componentTypeOf(component)} ${quoteForeign(foreignTextOf(component['name']) ?? '')}`
    const each = (list: JsonValue | undefined, member: string): (string | undefined)[] =>
      listOf(list).map((item, index) => this.read(item, `${place} ${member}[${index}]`, inside))
    switch (componentTypeOf(component)) {
      case 'Agent':
        return this.#readAgent(component, place)
      case 'SpecializedAgent':
        return this.#readSpecialized(component, place, inside)
      case 'ManagerWorkers': {
        const manager = this.read(component['group_manager'], `${place} group_manager`, inside)
        for (const worker of each(component['workers'], 'workers')) this.#delegate(manager, worker)
        return manager
      }
      case 'Swarm': {
        if (component['handoff'] !== false)
          losses.add(place, 'agents hand the conversation over: it is carried as delegation, which comes back')
        const first = this.read(component['first_agent'], `${place} first_agent`, inside)
        listOf(component['relationships']).forEach((pair, index) => {
          const [from, to] = each(pair, `relationships[${index}]`)
          this.#delegate(from, to)
        })
        return first
      }
      case 'Flow':
        losses.add(place, 'a flow is not carried; its agents are, each by itself')
        for (const [index, node] of listOf(component['nodes']).entries()) {
          const found = components.resolve(node, `${place} nodes[${index}]`)
          const inner = found?.['agent'] ?? found?.['subflow']
          if (inner !== undefined) this.read(inner, `${place} nodes[${index}]`, inside)
        }
        return undefined
      default:
        losses.add(place, 'is not carried')
        return undefined
    }
  }

  #delegate(from: string | undefined, to: string | undefined): void {
    if (from !== undefined && to !== undefined && from !== to) this.#byName(from).targets.add(to)
  }

  #byName(name: string): { readonly agent: ForeignAgent; readonly targets: Set<string> } {
    return [...this.#agents.values()].find(({ agent }) => agent.name === name)!
  }

  #readAgent(component: JsonObject, at: string, added?: JsonObject): string {
    const { losses } = this.#parts
    const identity = JSON.stringify([component, added])
    const known = this.#agents.get(identity)
    if (known) return known.agent.name
    const given = foreignTextOf(component['name']) ?? 'agent'
    const isTaken = [...this.#agents.values()].some(({ agent }) => agent.name === given)
    const name = isTaken ? `${given} ${this.#agents.size + 1}` : given
    if (listOf(component['transforms']).length > 0) losses.add(at, 'transforms of its messages are not carried')
    reportOddMembers(component, FORMS, at, losses)
    const instructions = foreignTextOf(component['system_prompt']) ?? ''
    const input = schemaOfProperties(component['inputs'])
    const output = schemaOfProperties(component['outputs'])
    if (/\{\{[^{}]+\}\}/.test(instructions))
      losses.add(at, 'inputs are not filled into its prompt: they come as the first message')
    const more = added ? foreignTextOf(added['additional_instructions']) : undefined
    const agent: ForeignAgent = {
      name,
      at,
      purpose: foreignTextOf(component['description']),
      instructions: [instructions, more].filter((each) => each !== undefined).join('\n\n'),
      model: readSpecModel(this.#parts.components.resolve(component['llm_config'], `${at} llm_config`), at, losses),
      tools: [
        ...readSpecTools(component, at, this.#parts),
        ...(added ? readSpecTools({ tools: added['additional_tools'] ?? [] }, at, this.#parts) : []),
      ],
      agents: [],
      ...(input && { input }),
      ...(output && { output }),
    }
    this.#agents.set(identity, { agent, targets: new Set() })
    return name
  }

  /** An agent with further instructions and tools. */
  #readSpecialized(component: JsonObject, at: string, inside: readonly JsonObject[]): string | undefined {
    const { components } = this.#parts
    const base = components.resolve(component['agent'], `${at} agent`)
    if (!base || componentTypeOf(base) !== 'Agent') return base && this.read(base, `${at} agent`, inside)
    const added = components.resolve(component['agent_specialization_parameters'], `${at} parameters`)
    return this.#readAgent({ ...base, name: component['name'] ?? base['name'] ?? null }, at, added)
  }
}

const FORMS = { name: 'text', description: 'text', system_prompt: 'text', inputs: 'list', outputs: 'list' } as const

/** Levels of components within each other. */
const MAX_DEPTH = 32

/** Providers by component type, and by `api_provider` of the general `LlmConfig`. */
const PROVIDERS: Readonly<Record<string, string>> = {
  OpenAiConfig: 'openai',
  openai: 'openai',
  anthropic: 'anthropic',
  GeminiConfig: 'gemini',
  google: 'gemini',
}
const SERVERS: ReadonlySet<string> = new Set(['OpenAiCompatibleConfig', 'VllmConfig', 'OllamaConfig', 'LlmConfig'])

function readSpecModel(config: JsonObject | undefined, at: string, losses: LossList): ForeignModel {
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
  if (parseUrl(text) === undefined || (!isWhole && !/[.:]/.test(given) && given !== 'localhost')) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || /[\s{}$<>]/.test(given)) return undefined
  const path = url.pathname.replace(/\/(?:chat\/completions)?\/?$/, '')
  return `${url.origin}${path === '' ? '/v1' : path}`
}
