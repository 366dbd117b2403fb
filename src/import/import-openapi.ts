/**
 * Imports operations of an OpenAPI document: a Tool document each, a record of how they are called, and a route in the project file.
 * Source: docs/design/command-line.md#imports
 */
import { shortenText } from '../base/text/cut-text.ts'
import { canonicalJson, isJsonObject, type JsonObject } from '../base/json/json.ts'
import { isLoopback } from '../base/net/loopback.ts'
import {
  OPERATION_RECORD_VERSION,
  type OperationRecord,
  type RecordedOperation,
} from '../spec/project/operation-record.ts'
import { usageFailure } from '../base/usage-failure.ts'
import {
  checkNamespace,
  readImportRecord,
  writtenOf,
  type ImportPlan,
  type PlannedFile,
  type ConfigEntry,
} from './import-plan.ts'
import { LossList } from './losses.ts'
import { maskPlanned } from './mask-planned.ts'
import { anyGlob, pathGlob } from './glob.ts'
import {
  listOperations,
  listUnreadablePaths,
  nameOperations,
  toToolName,
  withDigest,
  type OpenApiDocument,
  type OpenApiOperation,
} from './openapi-document.ts'
import { readSecurity } from './openapi-security.ts'
import { importOperation } from './openapi-tool.ts'
import { parseUrl } from '../base/net/parse-url.ts'

export interface OperationFilter {
  readonly tags: readonly string[]
  readonly paths: readonly string[]
  readonly operations: readonly string[]
}

export interface NamedOperation {
  readonly operation: OpenApiOperation
  /** Last part of the tool's logical id. */
  readonly name: string
}

/** Operations with the names of their tools, those that a filter selects: each kind of filter that is given has to match. */
export function selectOperations(document: OpenApiDocument, filter: OperationFilter): readonly NamedOperation[] {
  const operations = listOperations(document)
  const names = nameOperations(operations)
  const [tags, paths, named] = [filter.tags.map(anyGlob), filter.paths.map(pathGlob), filter.operations.map(anyGlob)]
  return operations
    .map((operation) => ({ operation, name: names.get(operation.key)! }))
    .filter(
      ({ operation: { tags: own, path, operationId = '' }, name }) =>
        (tags.length === 0 || own.some((tag) => tags.some((glob) => glob.test(tag)))) &&
        (paths.length === 0 || paths.some((glob) => glob.test(path))) &&
        (named.length === 0 || named.some((glob) => glob.test(operationId) || glob.test(name))),
    )
}

export interface OpenApiImport extends ImportPlan {
  readonly url: string
}

export interface OpenApiImportRequest {
  readonly document: OpenApiDocument
  readonly selected: readonly NamedOperation[]
  readonly source: { readonly name: string; readonly url?: string }
  readonly directory: string
  readonly namespace: string | undefined
  readonly url: string | undefined
  readonly trustClasses: boolean
}

/** Reads only. @throws Failure `usage`, `file_unusable` */
export function planOpenApiImport(request: OpenApiImportRequest): OpenApiImport {
  const { document, selected, source, directory, trustClasses } = request
  const namespace = namespaceOf(request)
  const recordPath = `imports/${namespace}.json`
  const before = readImportRecord(directory, recordPath)
  const losses = new LossList()
  const security = readSecurity(document, losses)
  const options = { document, namespace, security, losses, trustClasses }
  const known = new Map(Object.entries(before?.operations ?? {}).map(([id, each]) => [keyOf(each), id]))
  const taken = new Set(known.values())
  const tools = selected.flatMap(({ operation, name }) => {
    // A tool keeps the name under which agents bind it, whatever the source calls it now, and never becomes another operation.
    const usual = `${namespace}.${name}`
    const id =
      known.get(operation.key) ?? (taken.has(usual) ? `${namespace}.${withDigest(name, operation.key)}` : usual)
    taken.add(id)
    const last = id.slice(namespace.length + 1)
    const made = importOperation(operation, last, options)
    return made ? [{ ...made, id, key: operation.key, path: `tools/${namespace}/${last}.yaml` }] : []
  })
  for (const [name, scheme] of Object.entries(security.schemes))
    if (isChanged(before?.securitySchemes, name, scheme))
      losses.add(`security scheme ${name}`, 'its secret is sent otherwise than at the last import', true)
  for (const { id, key, operation } of tools) {
    const last = before && Object.hasOwn(before.operations, id) ? before.operations[id] : undefined
    if (last && isChanged({ security: last.security ?? [] }, 'security', operation.security ?? []))
      losses.add(key, 'it needs other secrets than at the last import', true)
  }
  for (const path of listUnreadablePaths(document))
    losses.add(path, 'left out: its operations cannot be read here; references out of the document are not followed')
  const url = serverOf(request, losses)
  const present = new Set(listOperations(document).map(({ key }) => key))
  const files = maskPlanned(
    tools.map(({ id, key, path, document: content }): PlannedFile => ({ kind: 'Tool', id, key, path, content })),
    losses,
  )
  const record: OperationRecord = {
    svcImport: OPERATION_RECORD_VERSION,
    source: source.name,
    securitySchemes: { ...before?.securitySchemes, ...security.schemes },
    operations: { ...before?.operations, ...Object.fromEntries(tools.map(({ id, operation }) => [id, operation])) },
    written: { ...before?.written, ...writtenOf(files) },
  }
  return {
    namespace,
    source: source.name,
    url,
    recordPath,
    before,
    record,
    files,
    config: [routeEntry(namespace, url, recordPath, record)],
    losses: losses.all(),
    gone: [...known].filter(([key]) => !present.has(key)).map(([key]) => key),
  }
}

const isChanged = (before: Readonly<Record<string, unknown>> | undefined, name: string, now: unknown): boolean =>
  before !== undefined && Object.hasOwn(before, name) && canonicalJson(before[name]) !== canonicalJson(now)

const keyOf = ({ method, path }: RecordedOperation): string => `${method} ${path}`

function namespaceOf({ document: { root }, namespace, source }: OpenApiImportRequest): string {
  if (namespace !== undefined) return checkNamespace(namespace)
  const info = isJsonObject(root['info']) ? root['info'] : {}
  const title = typeof info['title'] === 'string' ? info['title'] : ''
  const short = toToolName(
    title.replace(/\b(?:swagger|openapi|open api|rest|api|v\d+(?:\.\d+)*)\b|\d+\.\d+[.\d]*/gi, ' '),
  )
  const name = (short || toToolName(source.name.replace(/^.*\//, '').replace(/\.\w+$/, '')))
    .slice(0, 24)
    .replace(/_+$/, '')
  return name === '' || name === 'svc' ? 'api' : name
}

/** The address of the API: as given, else the first server, its variables with their defaults. */
function serverOf({ document: { root }, url, source }: OpenApiImportRequest, losses: LossList): string {
  const servers = Array.isArray(root['servers']) ? root['servers'].filter(isJsonObject) : []
  const [first] = servers
  const given = url ?? (typeof first?.['url'] === 'string' ? fillVariables(first['url'], first) : undefined)
  const absolute = given === undefined ? undefined : parseUrl(given, source.url)
  if (given !== undefined && /[{}]/.test(given))
    throw usageFailure(
      `The server ${shortenText(given, 200)} has a variable without a default.`,
      'Give it: --server https://api.example.com',
    )
  if (!absolute || !/^https?:$/.test(absolute.protocol))
    throw usageFailure('The document names no server with an address.', 'Give it: --server https://api.example.com')
  if (url === undefined && servers.length > 1)
    losses.add('servers', `the first of ${servers.length} is used: ${absolute.origin}`)
  if (absolute.protocol === 'http:' && !isLoopback(absolute.hostname) && absolute.hostname !== 'localhost')
    losses.add('servers', `${absolute.origin} is not https: calls are refused until \`url\` is`, true)
  absolute.username = absolute.password = absolute.hash = ''
  return absolute.href.replace(/\/$/, '')
}

function fillVariables(url: string, server: JsonObject): string {
  const variables = isJsonObject(server['variables']) ? server['variables'] : {}
  return url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
    const usual = isJsonObject(variable) ? variable['default'] : undefined
    return typeof usual === 'string' || typeof usual === 'number' ? String(usual) : whole
  })
}

function routeEntry(namespace: string, url: string, recordPath: string, record: OperationRecord): ConfigEntry {
  const used = new Set(Object.values(record.operations).flatMap(({ security = [] }) => security.flat()))
  const names = Object.keys(record.securitySchemes).filter((name) => used.has(name))
  const security: JsonObject = Object.fromEntries(names.map((name) => [name, { fromEnv: variableOf(namespace, name) }]))
  return {
    at: ['tools', `${namespace}.*`],
    value: { openapi: { url, record: recordPath, ...(names.length > 0 && { security }) } },
    owner: 'openapi',
    compared: [['openapi', 'url']],
  }
}

/** The source chooses both names, and where the secret is sent: without the prefix, `OpenAI` and `apiKey` would take a key that is set. */
const variableOf = (namespace: string, scheme: string): string =>
  `openapi_${namespace}_${scheme}`
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
