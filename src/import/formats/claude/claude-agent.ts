/** A file of `agents/` as an agent: front matter, and the prompt behind it. */
import type { JsonObject } from '../../../base/json/json.ts'
import type { ForeignAgent, ForeignModel, ForeignServer, ForeignTool } from '../../agents/foreign-project.ts'
import { namesOf, numberOf, foreignTextOf } from '../../agents/foreign-value.ts'
import { reportOddMembers } from '../../agents/odd-members.ts'
import { ruleFor } from '../../agents/permission-rules.ts'
import { quoteForeign } from '../../foreign-text.ts'
import type { LossList } from '../../losses.ts'
import { serversOfAgent } from './claude-servers.ts'
import { CLAUDE_ORDER, type ClaudeSettings } from './claude-settings.ts'
import type { ClaudeSkill } from './claude-skills.ts'
import type { MarkdownFile } from './front-matter.ts'

export interface ClaudeParts {
  readonly settings: ClaudeSettings
  readonly servers: ReadonlyMap<string, ForeignServer>
  readonly skills: ReadonlyMap<string, ClaudeSkill>
  readonly losses: LossList
}

export function readClaudeAgent(
  { fields, body }: MarkdownFile,
  path: string,
  { settings, servers, skills, losses }: ClaudeParts,
): ForeignAgent {
  const name = foreignTextOf(fields['name']) ?? path.replace(/^.*\//, '').replace(/\.md$/i, '')
  reportFields(fields, path, losses)
  const parts = namesOf(fields['skills']).flatMap((each) => {
    const skill = skills.get(each)
    if (!skill) losses.add(path, `the skill ${quoteForeign(each)} is not in the source`)
    return skill ? [`# ${skill.name}\n\n${skill.body.trim()}`] : []
  })
  const turns = numberOf(fields['maxTurns'])
  const { tools, agents } = readTools(fields, path, serversOfAgent(fields['mcpServers'], servers, path), losses)
  return {
    name,
    at: path,
    purpose: foreignTextOf(fields['description']),
    instructions: [body.trim(), ...parts].join('\n\n'),
    model: readModel(fields, settings),
    tools: tools.map((tool) => {
      const rule = ruleFor([tool.shownAs!], settings.rules, CLAUDE_ORDER)
      return rule ? { ...tool, rule } : tool
    }),
    agents,
    ...(turns !== undefined && Number.isInteger(turns) && turns > 0 && { maxIterations: turns }),
  }
}

/** Names that mean another model every month are no model of a provider. */
export function readModel(fields: JsonObject, settings: ClaudeSettings): ForeignModel {
  const own = foreignTextOf(fields['model'])
  const name = own === undefined || own === 'inherit' ? settings.model : own
  const effort = fields['effort']
  return {
    provider: name !== undefined && /^claude-[\w.-]+$/.test(name) ? 'anthropic' : undefined,
    name: name ?? '',
    ...((effort === 'low' || effort === 'medium' || effort === 'high') && { effort }),
  }
}

const READ: ReadonlySet<string> = new Set(
  'name description tools disallowedTools model permissionMode maxTurns skills mcpServers hooks effort color'.split(
    ' ',
  ),
)

const FORMS = {
  name: 'text',
  description: 'text',
  tools: 'names',
  disallowedTools: 'names',
  model: 'text',
  maxTurns: 'count',
  skills: 'names',
} as const

function reportFields(fields: JsonObject, path: string, losses: LossList): void {
  reportOddMembers(fields, FORMS, path, losses, ['disallowedTools'])
  const mode = fields['permissionMode']
  if (mode !== undefined && mode !== 'default')
    losses.add(path, `permissionMode ${quoteForeign(mode, 40)} is not carried`, true)
  if (fields['hooks'] !== undefined) losses.add(path, 'hooks are not carried, and a hook may forbid calls', true)
  for (const key of Object.keys(fields)) if (!READ.has(key)) losses.add(path, `${quoteForeign(key, 40)} is not carried`)
}

/** Longer texts are no names, and would take long to be read as some. */
const MAX_NAME = 500

interface NamedTools {
  readonly tools: readonly ForeignTool[]
  readonly agents: readonly string[]
}

/** Only tools of MCP servers, and agents, exist outside of the program that the file is for. */
function readTools(
  fields: JsonObject,
  path: string,
  servers: ReadonlyMap<string, ForeignServer>,
  losses: LossList,
): NamedTools {
  const given = fields['tools']
  if (given === undefined) losses.add(path, 'it may use every tool of its session: name those it needs below `tools`')
  const forbidden = namesOf(fields['disallowedTools'])
  const names = (typeof given === 'string' ? splitNames(given) : namesOf(given)).filter(
    (each) => !forbidden.includes(each),
  )
  const tools: ForeignTool[] = []
  const agents: string[] = []
  for (const each of names) {
    if (each.length > MAX_NAME) {
      losses.add(path, `${quoteForeign(each)} is no name of a tool`)
      continue
    }
    const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(each) ?? []
    const delegates = /^(?:Agent|Task)\((.*)\)$/.exec(each)?.[1]
    if (delegates !== undefined) agents.push(...delegates.split(',').map((name) => name.trim()))
    else if (server === undefined) losses.add(path, `the tool ${quoteForeign(each)} is not carried`)
    else if (tool === undefined || tool.includes('*'))
      losses.add(path, `tools of the MCP server ${quoteForeign(server)} are not listed here: bind those it needs`)
    else if (/^[A-Za-z0-9_.-]{1,128}$/.test(tool))
      tools.push({
        name: tool,
        shownAs: each,
        at: `${path} ${each}`,
        server: servers.get(server) ?? { name: server, at: `${path} ${each}` },
      })
    else losses.add(path, `${quoteForeign(each)} is no name of a tool`)
  }
  return { tools, agents }
}

/** At commas that stand outside of brackets. */
const splitNames = (text: string): readonly string[] =>
  (text.match(/(?:[^,()]|\([^()]*\)?)+/g) ?? []).map((each) => each.trim()).filter((each) => each !== '')
