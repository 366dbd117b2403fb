/** The files in which clients name their MCP servers: `mcpServers` of Claude Code and Cursor, `servers` of VS Code, `mcp` of OpenCode. */
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { isJsonObject, objectOf, type JsonObject } from '../../base/json/json.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import type { ForeignServer } from '../agents/foreign-project.ts'
import { foreignTextOf, textMembersOf, textsOf } from '../agents/foreign-value.ts'
import { quoteForeign } from '../foreign-text.ts'
import { parseCommentedJson, type CommentedJson } from './commented-json.ts'

export interface ClientFormat {
  /** Names the client in documents. */
  readonly name: 'claude' | 'cursor' | 'vscode' | 'opencode'
  /** Member of the file with the servers by name. */
  readonly member: string
  /** How the client writes the value of an environment variable. */
  readonly variable: (name: string) => string
  readonly program: (command: readonly string[]) => JsonObject
  readonly address: (url: string, headers: JsonObject) => JsonObject
}

const program = ([command, ...args]: readonly string[]): JsonObject => ({ command: command!, args })

const FORMATS: Readonly<Record<ClientFormat['name'], ClientFormat>> = {
  claude: {
    name: 'claude',
    member: 'mcpServers',
    variable: (name) => `\${${name}}`,
    program,
    address: (url, headers) => ({ type: 'http', url, headers }),
  },
  cursor: {
    name: 'cursor',
    member: 'mcpServers',
    variable: (name) => `\${env:${name}}`,
    program,
    address: (url, headers) => ({ url, headers }),
  },
  vscode: {
    name: 'vscode',
    member: 'servers',
    variable: (name) => `\${env:${name}}`,
    program: (command) => ({ type: 'stdio', ...program(command) }),
    address: (url, headers) => ({ type: 'http', url, headers }),
  },
  opencode: {
    name: 'opencode',
    member: 'mcp',
    variable: (name) => `{env:${name}}`,
    program: (command) => ({ type: 'local', command: [...command], enabled: true }),
    address: (url, headers) => ({ type: 'remote', url, headers, enabled: true }),
  },
}

export interface ClientServer extends ForeignServer {
  /** The client was told not to use it. */
  readonly isOff: boolean
}

export interface ClientFile {
  readonly json: CommentedJson
  readonly format: ClientFormat
  /** The folder that is open in the client when it reads the file. */
  readonly folder: string
  readonly servers: readonly ClientServer[]
}

const MAX_SERVERS = 100

/**
 * @param path absolute
 * @param name as the person gave it
 * @param projectDirectory programs run relative to it
 * @throws Failure `usage`
 */
export function readClientFile(text: string, path: string, name: string, projectDirectory: string): ClientFile {
  const json = parseCommentedJson(text, name)
  const format = formatOf(json.value, path)
  if (!format)
    throw usageFailure(
      `${name} names no MCP servers: it has no mapping \`mcpServers\`, \`servers\` or \`mcp\`.`,
      'Name the file in which the client keeps them: .mcp.json, .cursor/mcp.json, .vscode/mcp.json, opencode.json',
    )
  if (json.membersAt(json.start).filter((each) => each.name === format.member).length !== 1)
    throw usageFailure(`${name} has \`${format.member}\` more than once.`, 'Make it one mapping.')
  const folder = folderOf(path)
  const directory = relative(projectDirectory, folder)
  const entries = Object.entries(json.value[format.member] as JsonObject)
  if (entries.length > MAX_SERVERS) throw usageFailure(`${name} has more than ${MAX_SERVERS} servers.`)
  // What is no mapping says neither a program nor an address, which is reported as for any other server.
  const servers = entries.map(([server, given]) => readClientServer(server, objectOf(given), directory))
  return { json, format, folder, servers }
}

function formatOf(value: JsonObject, path: string): ClientFormat | undefined {
  if (isJsonObject(value['mcpServers'])) return basename(dirname(path)) === '.cursor' ? FORMATS.cursor : FORMATS.claude
  if (isJsonObject(value['servers'])) return FORMATS.vscode
  return isJsonObject(value['mcp']) ? FORMATS.opencode : undefined
}

/** `.cursor` and `.vscode` lie in the folder that is open. */
const folderOf = (path: string): string =>
  /^\.(?:cursor|vscode)$/.test(basename(dirname(path))) ? dirname(dirname(path)) : dirname(path)

function readClientServer(name: string, given: JsonObject, directory: string): ClientServer {
  const at = `server ${quoteForeign(name)}`
  const isOff = given['enabled'] === false || given['disabled'] === true
  const { command } = given
  const own = foreignTextOf(given['cwd'])
  const place = own === undefined ? directory : resolveVariables(own)
  const argv = Array.isArray(command) ? textsOf(command) : [foreignTextOf(command) ?? [], textsOf(given['args'])].flat()
  if (argv.length > 0)
    return {
      name,
      at,
      isOff,
      command: argv.map(resolveVariables),
      environment: resolveMembers(textMembersOf(given['env'] ?? given['environment'])),
      ...directoryIn(directory, place),
    }
  const url = foreignTextOf(given['url'] ?? given['serverUrl'])
  return {
    name,
    at,
    isOff,
    ...(url !== undefined && { url: resolveVariables(url) }),
    headers: resolveMembers(textMembersOf(given['headers'])),
  }
}

/** @param folder the folder that is open, relative to the project */
function directoryIn(folder: string, own: string): { readonly directory?: string } {
  const at = isAbsolute(own) || own === folder ? own : join(folder, own)
  return at === '' || at === '.' ? {} : { directory: at }
}

const resolveMembers = (members: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(members).map(([key, value]) => [key, resolveVariables(value)]))

/** The variables of all clients in one form; the folder that is open is where programs run. */
const resolveVariables = (text: string): string =>
  text
    .replace(/\$\{workspaceFolder\}/g, '.')
    .replace(/\$\{env:(\w+)\}/g, '${$1}')
    .replace(/(?<!\$)\{env:(\w+)\}/g, '${$1}')
    .replace(/\$\{input:([\w-]+)\}/g, (_, id: string) => `\${${id.replaceAll('-', '_').toUpperCase()}}`)
