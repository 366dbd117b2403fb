/** What `svc import mcp` is given: an address, a client's file, or a saved list of tools. */
import { basename, dirname, resolve } from 'node:path'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { fileFailure } from '../../base/files/file-error.ts'
import { readBoundedText } from '../../base/files/read-bounded.ts'
import type { ToolListing } from '../../tools/mcp/listed-tool.ts'
import { createToolListReader } from '../../tools/mcp/mcp-tool-list.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import type { ForeignServer } from '../agents/foreign-project.ts'
import { anyGlob } from '../glob.ts'
import { parseCommentedJson } from './commented-json.ts'
import { readClientFile } from './client-file.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface McpSource {
  /** The namespace is made of it. */
  readonly title: string
  /** The address without user and query, or the path as given. */
  readonly name: string
  readonly servers: readonly ForeignServer[]
  /** The tools, where the source lists them itself. */
  readonly saved?: ToolListing
}

export interface McpSourceOptions {
  readonly cwd: string
  readonly projectDirectory: string
  /** Patterns of names of servers; empty for all. */
  readonly entries: readonly string[]
  /** Address at which the tools of a saved list are called. */
  readonly server: string | undefined
  /** Environment variable with the bearer token. */
  readonly bearer: string | undefined
}

/** Reads files; asks no server. @throws Failure `usage`, `file_missing`, `file_unusable` */
export function readMcpSource(given: string, options: McpSourceOptions): McpSource {
  if (/^https?:\/\//i.test(given)) return addressSource(given, options)
  const path = resolve(options.cwd, given)
  let text: string
  try {
    text = readBoundedText(path)
  } catch (error) {
    throw fileFailure(error, { path, doing: 'read' }) ?? error
  }
  const saved = savedTools(text)
  if (!saved) return clientSource(text, path, given, options)
  const title = basename(given).replace(/\.\w+$/, '')
  const headers = headersOf(options)
  const server: ForeignServer = {
    name: title,
    at: given,
    ...(options.server !== undefined && { url: options.server }),
    ...(headers && { headers }),
  }
  return { title, name: given, servers: [server], saved }
}

function addressSource(given: string, options: McpSourceOptions): McpSource {
  const url = parseUrl(given)
  if (url === undefined) throw usageFailure(`"${given}" is no address.`)
  const { hostname, origin, pathname } = url
  const title = titleOf(hostname)
  const headers = headersOf(options)
  const name = `${origin}${pathname}`
  return { title, name, servers: [{ name: title, at: name, url: given, ...(headers && { headers }) }] }
}

/** `crm` for `mcp.crm.example`, and for `crm.mcp.example.com` the same. */
function titleOf(hostname: string): string {
  if (/^[\d.]+$|:|^localhost$/.test(hostname)) return 'local'
  const labels = hostname.split('.')
  const own = labels.slice(0, Math.max(1, labels.length - 1)).filter((each) => !/^(?:mcp|api|www)$/.test(each))
  return own.at(0) ?? labels[0]!
}

function clientSource(text: string, path: string, given: string, options: McpSourceOptions): McpSource {
  const file = readClientFile(text, path, given, options.projectDirectory)
  const globs = options.entries.map(anyGlob)
  const servers = file.servers.filter(({ name }) => globs.length === 0 || globs.some((glob) => glob.test(name)))
  if (servers.length === 0)
    throw usageFailure(
      `No server of ${given} is selected.`,
      `Its servers: ${file.servers
        .map(({ name }) => name)
        .slice(0, 10)
        .join(', ')}`,
    )
  const [first] = servers
  return { title: servers.length === 1 ? first!.name : basename(dirname(path)), name: given, servers }
}

const headersOf = ({ bearer }: McpSourceOptions): Record<string, string> | undefined =>
  bearer === undefined ? undefined : { Authorization: `Bearer \${${bearer}}` }

/** The tools of `{"tools": […]}`, of an answer to `tools/list`, or of a list alone; undefined for another file. */
function savedTools(text: string): ToolListing | undefined {
  const list = toolsIn(parseList(text))
  if (!list) return undefined
  const reader = createToolListReader()
  reader.readPage({ at: 'result', result: { tools: [...list] } })
  const names = list.flatMap((each) => (isJsonObject(each) && typeof each['name'] === 'string' ? [each['name']] : []))
  return reader.list(new Set(names))
}

function parseList(text: string): JsonValue | undefined {
  try {
    return /^\s*\[/.test(text) ? (JSON.parse(text) as JsonValue) : parseCommentedJson(text, '').value
  } catch {
    return undefined
  }
}

function toolsIn(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value
  if (!isJsonObject(value)) return undefined
  if (isJsonObject(value['result'])) return toolsIn(value['result'])
  return Array.isArray(value['tools']) ? value['tools'] : undefined
}
