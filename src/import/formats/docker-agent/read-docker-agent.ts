/** Reads the configuration of Docker Agent (cagent), versions 1 and later. Source: docs.docker.com/ai/docker-agent/. */
import { basename } from 'node:path'
import { isJsonObject, objectOf, listOf, type JsonObject } from '../../../base/json/json.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import type {
  AgentSource,
  ForeignAgent,
  ForeignProject,
  ForeignRule,
  ForeignTool,
} from '../../agents/foreign-project.ts'
import { foreignTextOf, numberOf, textsOf } from '../../agents/foreign-value.ts'
import { reportOddMembers } from '../../agents/odd-members.ts'
import { reportRules, ruleFor, type PermissionRule } from '../../agents/permission-rules.ts'
import { readSourceText } from '../../agents/source-folder.ts'
import { quoteForeign } from '../../foreign-text.ts'
import type { LossList } from '../../losses.ts'
import { parseSource } from '../../read-source.ts'
import { readDockerModel } from './docker-models.ts'
import { readToolsets } from './docker-toolsets.ts'

/** @throws Failure `usage`, `file_missing`, `file_unusable` */
export async function readDockerAgent({ path, name, losses }: AgentSource): Promise<ForeignProject> {
  await Promise.resolve()
  const root = parseSource(readSourceText(path), name)
  if (!isJsonObject(root)) throw usageFailure(`${name} is no mapping with \`agents\`.`)
  const entries = agentEntries(root, name)
  reportOddMembers(root, FORMS, name, losses, ['permissions'])
  const rules = readPermissions(root, losses)
  for (const key of Object.keys(root))
    if (!READ.has(key)) losses.add(key, key === 'hooks' ? HOOKS : 'is not carried', key === 'hooks')
  const agents = entries.map(([agent, value]) => readAgent(agent, value, root, rules, losses))
  reportRules(
    rules,
    agents.flatMap(({ tools }) => tools.flatMap(namesInRules)),
    (text) => !/^(?:shell|filesystem|fetch|read_|write_|edit_)/.test(text),
    losses,
  )
  const metadata = objectOf(root['metadata'])
  const title = foreignTextOf(metadata['name']) ?? basename(path).replace(/\.\w+$/, '')
  return { title, agents, root: entries.some(([agent]) => agent === 'root') ? 'root' : entries[0]?.[0] }
}

const READ = new Set('version agents models providers mcps permissions metadata'.split(' '))
const FORMS = { models: 'mapping', providers: 'mapping', mcps: 'mapping', permissions: 'mapping' } as const
const HOOKS = 'hooks are not carried, and a hook may forbid calls'

/** A mapping by names, or a list of agents with names. */
function agentEntries(root: JsonObject, name: string): readonly (readonly [string, JsonObject])[] {
  const agents = root['agents']
  const entries = isJsonObject(agents)
    ? Object.entries(agents)
    : listOf(agents).map((each, at) => [foreignTextOf(objectOf(each)['name']) ?? `[${at}]`, each] as const)
  if (entries.length === 0) throw usageFailure(`${name} is no configuration of Docker Agent: it has no \`agents\`.`)
  return entries.map(([agent, value]) => {
    if (!isJsonObject(value) || foreignTextOf(agent) === undefined)
      throw usageFailure(`${name}: ${quoteForeign(agent)} of its agents is no agent.`)
    return [agent, value] as const
  })
}

/** Source: docs.docker.com/ai/docker-agent/configuration/permissions/. */
const DOCKER_ORDER: readonly ForeignRule[] = ['deny', 'allow', 'ask']

function readPermissions(root: JsonObject, losses: LossList): readonly PermissionRule[] {
  const permissions = objectOf(root['permissions'])
  reportOddMembers(permissions, { deny: 'texts', allow: 'texts', ask: 'texts' }, 'permissions', losses, DOCKER_ORDER)
  for (const key of Object.keys(permissions))
    if (!DOCKER_ORDER.some((rule) => rule === key))
      losses.add('permissions', `${quoteForeign(key)} is not carried`, true)
  return DOCKER_ORDER.flatMap((rule) =>
    textsOf(permissions[rule]).map((text) => ({
      rule,
      text,
      // `tool:argument=pattern` asks about arguments; a set of characters is another pattern than those of svc.
      pattern: /:[^:]*=|\[/.test(text) ? undefined : text,
    })),
  )
}

const namesInRules = ({ name, shownAs, server }: ForeignTool): readonly string[] =>
  [name, shownAs, server && `mcp:${server.name}:${name}`].filter((each) => each !== undefined)

const FORMS_OF_AGENT = {
  name: 'text',
  model: 'text',
  description: 'text',
  instruction: 'text',
  toolsets: 'list',
  sub_agents: 'texts',
  max_iterations: 'count',
  structured_output: 'mapping',
} as const

function readAgent(
  name: string,
  value: JsonObject,
  root: JsonObject,
  rules: readonly PermissionRule[],
  losses: LossList,
): ForeignAgent {
  const at = `agents.${name}`
  for (const key of Object.keys(value))
    if (!Object.hasOwn(FORMS_OF_AGENT, key))
      losses.add(at, key === 'hooks' ? HOOKS : `${quoteForeign(key)} is not carried`, key === 'hooks')
  reportOddMembers(value, FORMS_OF_AGENT, at, losses)
  const instructions = foreignTextOf(value['instruction']) ?? ''
  if (/\$\{?env\.|\$\{[A-Z_]+\}/.test(instructions)) losses.add(at, 'variables in its instruction are not filled in')
  const most = numberOf(value['max_iterations'])
  const schema = objectOf(value['structured_output'])['schema']
  return {
    name,
    at,
    purpose: foreignTextOf(value['description']),
    instructions,
    model: readDockerModel(value['model'], root, at, losses),
    tools: readToolsets(value['toolsets'], objectOf(root['mcps']), at, losses).map((tool) => {
      const rule = ruleFor(namesInRules(tool), rules, DOCKER_ORDER)
      return rule ? { ...tool, rule } : tool
    }),
    agents: textsOf(value['sub_agents']),
    ...(most !== undefined && Number.isInteger(most) && most > 0 && { maxIterations: most }),
    ...(isJsonObject(schema) && { output: schema }),
  }
}
