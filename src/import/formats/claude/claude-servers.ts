/** MCP servers as `.mcp.json`, settings and agents declare them. */
import { objectOf, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { ForeignServer } from '../../agents/foreign-project.ts'
import { textMembersOf, foreignTextOf, textsOf } from '../../agents/foreign-value.ts'

/** @param declared the value of `mcpServers`: servers by name */
export function readServers(declared: JsonValue | undefined, at: string): ReadonlyMap<string, ForeignServer> {
  return new Map(
    Object.entries(objectOf(declared)).map(([name, given]) => [
      name,
      readServer(name, objectOf(given), `${at} mcpServers.${name}`),
    ]),
  )
}

function readServer(name: string, given: JsonObject, at: string): ForeignServer {
  const command = foreignTextOf(given['command'])
  if (command !== undefined)
    return { name, at, command: [command, ...textsOf(given['args'])], environment: textMembersOf(given['env']) }
  const url = foreignTextOf(given['url'])
  return { name, at, ...(url !== undefined && { url }), headers: textMembersOf(given['headers']) }
}

/** Servers of an agent: names of declared ones, or servers of its own. */
export function serversOfAgent(
  given: JsonValue | undefined,
  declared: ReadonlyMap<string, ForeignServer>,
  at: string,
): ReadonlyMap<string, ForeignServer> {
  const own = (Array.isArray(given) ? given : [given]).flatMap((each) => [...readServers(each, at)])
  return new Map([...declared, ...own])
}
