/** An agent of a source as an Agent document with its prompt. */
import type { JsonObject } from '../../base/json/json.ts'
import { cleanForeignText, quoteForeign } from '../foreign-text.ts'
import type { ConfigEntry, OpenQuestion, PlannedFile } from '../import-plan.ts'
import type { LossList } from '../losses.ts'
import { EXTERNAL_PROVIDER } from '../../spec/external.ts'
import { convertSchema } from '../openapi-schema.ts'
import type { ForeignAgent, ForeignModel, ForeignServer, ForeignTool } from './foreign-project.ts'
import { planServer, type ServerNames } from './foreign-server.ts'
import type { ToolPlan } from './tool-document.ts'
import { cutText } from '../../base/text/cut-text.ts'
import { UNSEEN_CHARACTER } from '../../base/text/unseen-character.ts'
import { maskCredentials, maskPrivateKeys } from '../../documents/text/credentials.ts'

export interface AgentPlanOptions {
  readonly namespace: string
  readonly losses: LossList
  readonly tools: ToolPlan
  readonly serverNames: ServerNames
  /** True to let calls pass that the source allows without a person. */
  readonly trustAllow: boolean
  readonly keepsValues?: boolean
  /** Name of the document of an agent. */
  readonly documentName: (agent: string) => string
  readonly agents: ReadonlyMap<string, ForeignAgent>
  readonly delegation: ReadonlyMap<string, readonly string[]>
  /** Levels of delegation below the agent. */
  readonly depthOf: (agent: string) => number
}

export interface PlannedAgent {
  readonly files: readonly PlannedFile[]
  readonly config: readonly ConfigEntry[]
  /** What the source spells out, by variable. */
  readonly values: readonly (readonly [variable: string, value: string])[]
}

/** Bounds the loop of an agent whose source sets no bound. */
const USUAL_ITERATIONS = 25
/** Levels of delegation that need no `max_subagent_depth`. */
const USUAL_DEPTH = 5

export function planAgent(agent: ForeignAgent, options: AgentPlanOptions): PlannedAgent {
  const { namespace, losses, documentName, delegation } = options
  const name = documentName(agent.name)
  // No bundle is above it, so what it refers to lies beside it.
  const isOfClient = agent.model.provider === EXTERNAL_PROVIDER
  const servers = [...serversOf(agent.tools, options.serverNames)].map(([own, server]) =>
    planServer(server, own, { namespace, losses, keepsValues: options.keepsValues === true }),
  )
  const model = planModel(agent.model, namespace, name)
  const secrets: JsonObject = Object.assign({}, model.secrets, ...servers.map((each) => each.secrets))
  const tools = bindTools(agent, options)
  const agents = (delegation.get(agent.name) ?? []).map((target): JsonObject => {
    const text = cleanForeignText(options.agents.get(target)?.purpose, 1000)
    return { ref: agentPath(namespace, documentName(target)), ...(text !== undefined && { description: text }) }
  })
  const purpose = cleanForeignText(agent.purpose, 1000)
  const prompt = cleanPrompt(agent.instructions, agent.at, losses)
  if (prompt === '') losses.add(agent.at, 'has no instructions: its purpose stands in their place')
  const promptPath = `prompts/${namespace}/${name}.md`
  const depth = options.depthOf(agent.name)
  const limits = {
    // A client loops by itself, for as long as it wants.
    ...((tools.length > 0 || agents.length > 0 || agent.maxIterations !== undefined) &&
      !isOfClient && {
        max_loop_iterations: agent.maxIterations ?? USUAL_ITERATIONS,
      }),
    ...(depth > USUAL_DEPTH && { max_subagent_depth: depth }),
  }
  const output = agent.output && convertIn(agent.output, agent.at, 'its output', losses)
  const input = agent.input && JSON.stringify(convertIn(agent.input, agent.at, 'its input', losses), null, 2)
  const inputPath = `schemas/${namespace}/${name}.json`
  const document: JsonObject = {
    apiVersion: 'svc/v1',
    kind: 'Agent',
    metadata: {
      name,
      namespace,
      version: '1.0.0',
      ...(input !== undefined && { annotations: { 'svc/input-schema': inputPath } }),
    },
    ...(Object.keys(secrets).length > 0 && { secrets }),
    ...(output && { output: { format: 'json', schema: { inline: output }, strict: true } }),
    spec: {
      purpose: purpose ?? `${quoteForeign(agent.name, 200)} of the source.`,
      instructions: { ref: promptPath },
      model: model.value,
      ...(tools.length > 0 && { tools }),
      ...(servers.length > 0 && { mcp_servers: servers.map(({ entry }) => entry) }),
      ...(agents.length > 0 && { agents }),
      ...(Object.keys(limits).length > 0 && { limits }),
    },
  }
  const agentFile: PlannedFile = {
    kind: 'Agent',
    id: `${namespace}.${name}`,
    key: agent.at,
    path: isOfClient ? `${namespace}-${name}.yaml` : agentPath(namespace, name),
    content: document,
    questions: model.questions,
  }
  const text = (path: string, content: string): PlannedFile => ({
    kind: 'text',
    id: path,
    key: agent.at,
    path,
    content,
  })
  return {
    files: [
      agentFile,
      text(promptPath, prompt || `${purpose ?? agent.name}\n`),
      ...(input === undefined ? [] : [text(inputPath, `${input}\n`)]),
      ...(model.script === undefined ? [] : [text(model.script.path, model.script.text)]),
    ],
    config: servers.flatMap(({ config }) => config),
    values: servers.flatMap(({ values }) => Object.entries(values)),
  }
}

const convertIn = (schema: JsonObject, at: string, part: string, losses: LossList): JsonObject =>
  convertSchema({ root: schema, isOld: false }, schema, ROOM, (what, authority) =>
    losses.add(at, `${part}: ${what}`, authority),
  )

const ROOM = { bytes: 48 * 1024, nodes: 1200 }

export const agentPath = (namespace: string, name: string): string => `agents/${namespace}/${name}.yaml`

function bindTools(agent: ForeignAgent, { losses, tools, trustAllow }: AgentPlanOptions): JsonObject[] {
  const names = new Set<string>()
  const seen = new Set<string>()
  return agent.tools.flatMap((tool) => {
    if (tool.rule === 'allow' && !trustAllow && tool.sideEffect === undefined)
      losses.add(
        tool.at,
        'the source allows its calls without a person; they need one until its class says otherwise (--trust-allow takes it)',
        true,
      )
    const rule = tool.rule === 'allow' ? undefined : tool.rule
    // Allowed without a person, and still never made twice.
    const isAllowed = tool.rule === 'allow' && trustAllow && tool.sideEffect === undefined
    const bound: ForeignTool = isAllowed ? { ...tool, sideEffect: 'non_idempotent_write' } : tool
    const { ref, as, rest } = tools.bind(bound, rule, names)
    if (seen.has(ref)) return []
    seen.add(ref)
    if (as !== undefined) names.add(as)
    return [{ ref, ...(as !== undefined && { as }), ...rest }]
  })
}

/** Servers of the tools, each once, by their names. */
const serversOf = (tools: readonly ForeignTool[], names: ServerNames): ReadonlyMap<string, ForeignServer> =>
  new Map(tools.flatMap(({ server }) => (server ? [[names.nameOf(server), server] as const] : [])))

interface PlannedModel {
  readonly value: JsonObject
  readonly secrets: JsonObject
  readonly questions: readonly OpenQuestion[]
  readonly script?: { readonly path: string; readonly text: string }
}

const KEY_VARIABLES: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  'azure-openai': 'AZURE_OPENAI_API_KEY',
  bedrock: 'AWS_BEARER_TOKEN_BEDROCK',
}

/** A server of models gets a key of its own, never one that is set for something else. */
const serverKey = (baseUrl: string | undefined, namespace: string): string | undefined =>
  baseUrl === undefined ? undefined : `model_${namespace}_key`.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()

/** A model that svc cannot name is a script that says so, until the author names one. */
function planModel(model: ForeignModel, namespace: string, name: string): PlannedModel {
  if (model.provider === undefined) {
    const path = `models/${namespace}/${name}.yaml`
    const wished = cleanForeignText(model.name, 100)
    return {
      value: { provider: 'scripted', name, provider_options: { script: path } },
      secrets: {},
      questions: [
        {
          at: ['spec', 'model'],
          what: `which model? ${wished === undefined ? 'The source names none.' : `The source says ${quoteForeign(wished)}.`}`,
        },
      ],
      script: { path, text: `- say: I am only a script. Name a model in ${agentPath(namespace, name)}.\n` },
    }
  }
  const { provider, temperature, topP, maxTokens, effort, baseUrl } = model
  const variable = model.keyVariable ?? KEY_VARIABLES[provider] ?? serverKey(baseUrl, namespace)
  const parameters = {
    ...(temperature !== undefined ? { temperature } : topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
  }
  return {
    value: {
      provider,
      name: model.name,
      ...(provider === 'openai-compatible' && baseUrl !== undefined && { base_url: baseUrl }),
      ...(variable !== undefined && { secret: provider }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(effort && { reasoning: { effort } }),
    },
    secrets: variable === undefined ? {} : { [provider]: { fromEnv: variable } },
    questions: [],
  }
}

const MAX_CHARACTERS = 200_000
const UNSEEN = new RegExp(UNSEEN_CHARACTER, 'gu')

/** What nobody sees, and what looks like a credential, is left out and reported. Empty where nothing is left. */
function cleanPrompt(text: string, at: string, losses: LossList): string {
  const cut = cutText(text, MAX_CHARACTERS).text
  if (cut.length < text.length) losses.add(at, `its instructions are cut to ${MAX_CHARACTERS} characters`)
  // eslint-disable-next-line no-control-regex
  const seen = cut.replace(UNSEEN, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  if (seen.length < cut.length) losses.add(at, 'characters that nobody sees are left out of its instructions')
  const lines = seen.split('\n')
  const masked = maskPrivateKeys(seen)
    .split('\n')
    .map((line) => maskCredentials(line))
  if (masked.some((line, index) => line !== lines[index]))
    losses.add(at, 'what looks like a credential in its instructions is masked', true)
  const whole = masked
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
  return whole === '' ? '' : `${whole}\n`
}
