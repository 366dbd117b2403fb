/** Tools and toolboxes of Agent Spec. */
import { isJsonObject, objectOf, listOf, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { ForeignServer, ForeignTool } from '../../agents/foreign-project.ts'
import { foreignTextOf, textMembersOf, textsOf } from '../../agents/foreign-value.ts'
import { reportOddMembers } from '../../agents/odd-members.ts'
import { quoteForeign } from '../../foreign-text.ts'
import type { LossList } from '../../losses.ts'
import { componentTypeOf, type SpecComponents } from './spec-components.ts'

export interface SpecParts {
  readonly components: SpecComponents
  readonly losses: LossList
}

/** Properties of inputs or outputs as one object; those with a default may be left out. Undefined where there are none. */
export function schemaOfProperties(given: JsonValue | undefined): JsonObject | undefined {
  const properties = listOf(given).flatMap((each): (readonly [string, JsonObject])[] => {
    const { title, ...schema } = objectOf(each)
    return typeof title === 'string' ? [[title, schema]] : []
  })
  if (properties.length === 0) return undefined
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: properties.filter(([, schema]) => !Object.hasOwn(schema, 'default')).map(([title]) => title),
    additionalProperties: false,
  }
}

export function readSpecTools(agent: JsonObject, at: string, parts: SpecParts): readonly ForeignTool[] {
  reportOddMembers(agent, { tools: 'list', toolboxes: 'list' }, at, parts.losses)
  const tools = listOf(agent['tools']).flatMap((each, index) => {
    const tool = parts.components.resolve(each, `${at} tools[${index}]`)
    return tool ? readTool(tool, at, parts) : []
  })
  const boxed = listOf(agent['toolboxes']).flatMap((each, index) => {
    const box = parts.components.resolve(each, `${at} toolboxes[${index}]`)
    return box ? readToolbox(box, at, parts) : []
  })
  return [...tools, ...boxed]
}

/** What is neither true nor false is taken as the stricter of them. */
const asksFirst = ({ requires_confirmation: asks = false }: JsonObject): boolean => asks !== null && asks !== false

const NO_INPUT: JsonObject = { type: 'object', properties: {}, additionalProperties: false }

function readTool(tool: JsonObject, agent: string, parts: SpecParts): readonly ForeignTool[] {
  const type = componentTypeOf(tool)
  const name = foreignTextOf(tool['name']) ?? ''
  const at = `${agent} tool ${quoteForeign(name)}`
  const description = foreignTextOf(tool['description'])
  const asks = asksFirst(tool)
  reportOddMembers(tool, { description: 'text', inputs: 'list' }, at, parts.losses, ['inputs'])
  const common = {
    name,
    at,
    shownAs: name,
    ...(description !== undefined && { description }),
    ...(asks && { rule: 'ask' as const }),
  }
  const input = schemaOfProperties(tool['inputs'])
  switch (type) {
    case 'ServerTool':
    case 'ClientTool':
      return [{ ...common, input: input ?? NO_INPUT }]
    case 'RemoteTool': {
      const reads = /^(?:GET|HEAD)$/i.test(foreignTextOf(tool['http_method']) ?? '')
      return [{ ...common, input: input ?? NO_INPUT, ...(reads && { sideEffect: 'read_only' as const }) }]
    }
    case 'MCPTool': {
      const transport = parts.components.resolve(tool['client_transport'], `${at} client_transport`)
      return [{ ...common, ...(input && { input }), server: readTransport(transport, at, parts) }]
    }
    default:
      parts.losses.add(at, `${quoteForeign(type)} is not carried`, asks)
      return []
  }
}

/** Tools that a toolbox lists by name; what it offers besides is known to its server alone. */
function readToolbox(box: JsonObject, agent: string, parts: SpecParts): readonly ForeignTool[] {
  const at = `${agent} toolbox ${quoteForeign(foreignTextOf(box['name']) ?? '')}`
  if (componentTypeOf(box) !== 'MCPToolBox') {
    parts.losses.add(at, `${quoteForeign(componentTypeOf(box))} is not carried`)
    return []
  }
  if (!Array.isArray(box['tool_filter'])) {
    parts.losses.add(at, 'the tools of its MCP server are not listed here: bind those it needs')
    return []
  }
  const transport = parts.components.resolve(box['client_transport'], `${at} client_transport`)
  const server = readTransport(transport, at, parts)
  return box['tool_filter'].flatMap((each, index): readonly ForeignTool[] => {
    const spec = isJsonObject(each) ? parts.components.resolve(each, `${at} tool_filter[${index}]`)! : { name: each }
    const name = foreignTextOf(spec['name'])
    if (name === undefined) return []
    const description = foreignTextOf(spec['description'])
    const input = schemaOfProperties(spec['inputs'])
    const asks = asksFirst(box) || asksFirst(spec)
    return [
      {
        name,
        at: `${at} ${quoteForeign(name)}`,
        shownAs: name,
        server,
        ...(description !== undefined && { description }),
        ...(input && { input }),
        ...(asks && { rule: 'ask' as const }),
      },
    ]
  })
}

function readTransport(
  transport: JsonObject | undefined,
  at: string,
  { components, losses }: SpecParts,
): ForeignServer {
  const given = transport ?? {}
  const type = componentTypeOf(given)
  const name = foreignTextOf(given['name']) ?? 'server'
  const command = foreignTextOf(given['command'])
  if (command !== undefined) {
    if (foreignTextOf(given['cwd']) !== undefined) losses.add(at, 'the directory of its program is not carried')
    return { name, at, command: [command, ...textsOf(given['args'])], environment: textMembersOf(given['env']) }
  }
  if (/mTLS/.test(type)) losses.add(at, 'its client certificate is not sent', true)
  if (components.resolve(given['auth'], `${at} auth`)) losses.add(at, 'its OAuth is not carried: write `auth`', true)
  if (type.startsWith('SSE')) losses.add(at, 'svc speaks streamable HTTP, not SSE: its address may differ')
  const url = foreignTextOf(given['url'])
  const headers = { ...textMembersOf(given['headers']), ...textMembersOf(given['sensitive_headers']) }
  return { name, at, ...(url !== undefined && { url }), headers }
}
