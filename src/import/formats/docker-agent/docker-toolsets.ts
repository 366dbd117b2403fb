/** Toolsets of Docker Agent: MCP servers, scripts and requests. The others are parts of the program and not carried. */
import { objectOf, listOf, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { ForeignServer, ForeignTool } from '../../agents/foreign-project.ts'
import { foreignTextOf, textMembersOf, textsOf } from '../../agents/foreign-value.ts'
import { reportOddMembers } from '../../agents/odd-members.ts'
import { quoteForeign } from '../../foreign-text.ts'
import type { LossList } from '../../losses.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

/** @param mcps the servers that the source declares once, by name */
export function readToolsets(
  given: JsonValue | undefined,
  mcps: JsonObject,
  at: string,
  losses: LossList,
): readonly ForeignTool[] {
  return listOf(given).flatMap((each, index): readonly ForeignTool[] => {
    const toolset = objectOf(each)
    const type = foreignTextOf(toolset['type']) ?? ''
    const place = `${at}.toolsets[${index}]`
    if (foreignTextOf(toolset['instruction']) !== undefined)
      losses.add(place, 'the instruction of a toolset is not carried: put it into the prompt')
    switch (type) {
      case 'mcp':
        return readMcp(toolset, mcps, place, losses)
      case 'script':
        return Object.entries(objectOf(toolset['shell'])).map(([name, script]) =>
          functionTool(name, objectOf(script), `${place}.shell.${name}`, (properties) =>
            objectOf(script)['required'] === undefined
              ? Object.keys(properties)
              : textsOf(objectOf(script)['required']),
          ),
        )
      case 'api':
        return readApi(objectOf(toolset['api_config']), place, losses)
      case 'openapi':
        losses.add(place, 'import its document, and bind the tools that the agent needs: svc import openapi URL')
        return []
      default:
        losses.add(place, `the toolset ${quoteForeign(type)} is not carried`)
        return []
    }
  })
}

const FORMS = {
  name: 'text',
  ref: 'text',
  command: 'text',
  args: 'texts',
  env: 'mapping',
  remote: 'mapping',
  tools: 'texts',
} as const

function readMcp(toolset: JsonObject, mcps: JsonObject, at: string, losses: LossList): readonly ForeignTool[] {
  const ref = foreignTextOf(toolset['ref'])
  const isDeclared = ref !== undefined && Object.hasOwn(mcps, ref)
  const whole: JsonObject = isDeclared ? { ...objectOf(mcps[ref]), ...toolset } : toolset
  reportOddMembers(whole, FORMS, at, losses)
  const server = serverOf(whole, ref, at, losses)
  const names = textsOf(whole['tools'])
  if (names.length === 0)
    losses.add(at, `the tools of the MCP server ${quoteForeign(server.name)} are not listed here: bind those it needs`)
  const prefix = foreignTextOf(whole['name'])
  return names.flatMap((name) => {
    if (/^[A-Za-z0-9_.-]{1,128}$/.test(name))
      return [{ name, at: `${at} ${name}`, server, shownAs: prefix === undefined ? name : `${prefix}_${name}` }]
    losses.add(at, `${quoteForeign(name)} is no name of a tool`)
    return []
  })
}

function serverOf(toolset: JsonObject, ref: string | undefined, at: string, losses: LossList): ForeignServer {
  const command = foreignTextOf(toolset['command'])
  const remote = objectOf(toolset['remote'])
  const url = foreignTextOf(remote['url'])
  const host = url !== undefined ? parseUrl(url)?.hostname.split('.').slice(-2, -1)[0] : undefined
  const program = command === undefined ? undefined : programName([command, ...textsOf(toolset['args'])])
  const name = foreignTextOf(toolset['name']) ?? ref?.replace(/^docker:/, '') ?? host ?? program ?? 'server'
  if (command !== undefined)
    return { name, at, command: [command, ...textsOf(toolset['args'])], environment: textMembersOf(toolset['env']) }
  if (url === undefined) return { name, at }
  if (remote['transport_type'] === 'sse') losses.add(at, 'svc speaks streamable HTTP, not SSE: its address may differ')
  return { name, at, url, headers: textMembersOf(remote['headers']) }
}

/** `npx -y archive-mcp` is known as its package. */
function programName([command = '', ...given]: readonly string[]): string {
  const last = command.replace(/^.*[/\\]/, '')
  const first = /^(?:npx|uvx|bunx|node|python3?)$/.test(last) ? given.find((each) => !each.startsWith('-')) : undefined
  return (first ?? last).replace(/^@[^/]*\//, '').replace(/@.*$/, '')
}

function readApi(config: JsonObject, at: string, losses: LossList): readonly ForeignTool[] {
  const name = foreignTextOf(config['name'])
  if (name === undefined) {
    losses.add(at, 'its request has no name and is left out')
    return []
  }
  const described = { ...config, description: config['instruction'] ?? null }
  const tool = functionTool(name, described, `${at} ${name}`, () => textsOf(config['required']))
  return [/^(?:GET|HEAD)$/i.test(foreignTextOf(config['method']) ?? '') ? { ...tool, sideEffect: 'read_only' } : tool]
}

/** Arguments are properties of a JSON Schema. @param required of a script all, where it does not say which */
function functionTool(
  name: string,
  given: JsonObject,
  at: string,
  required: (properties: JsonObject) => readonly string[],
): ForeignTool {
  const description = foreignTextOf(given['description'])
  const properties = objectOf(given['args'])
  return {
    name,
    at,
    shownAs: name,
    ...(description !== undefined && { description }),
    input: { type: 'object', properties, required: [...required(properties)], additionalProperties: false },
  }
}
