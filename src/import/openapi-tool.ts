/** One operation as a Tool document, and as the request that a call of it sends. Source: docs/design/command-line.md#imports */
import { cutText, shortenText } from '../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { SIDE_EFFECT_CLASSES, type SideEffectClass } from '../spec/document.ts'
import type {
  OperationBody,
  OperationParameter,
  ParameterPlace,
  ParameterStyle,
  RecordedOperation,
  WrittenStyle,
} from '../spec/project/operation-record.ts'
import { RESERVED_HEADERS } from '../tools/openapi/request.ts'
import { cleanForeignText } from './foreign-text.ts'
import { strictnessOf } from './looser-edit.ts'
import type { LossList } from './losses.ts'
import { resolveObject, type OpenApiDocument, type OpenApiOperation } from './openapi-document.ts'
import { convertSchema, REFUSED_NAMES, type SchemaRoom } from './openapi-schema.ts'
import type { OpenApiSecurity } from './openapi-security.ts'

export interface ImportedTool {
  readonly document: JsonObject
  readonly operation: RecordedOperation
}

export interface ToolImportOptions {
  readonly document: OpenApiDocument
  readonly namespace: string
  readonly security: OpenApiSecurity
  readonly losses: LossList
  /** True to believe an `x-svc-class` that is looser than the method. */
  readonly trustClasses: boolean
}

const MAX_DESCRIPTION = 1000

/** Undefined for an operation that svc cannot call; the losses say why. */
export function importOperation(
  operation: OpenApiOperation,
  name: string,
  options: ToolImportOptions,
): ImportedTool | undefined {
  const { namespace, security, losses } = options
  const { key, method, path, value, shared } = operation
  const lose = (what: string, authority = false): void => losses.add(key, what, authority)
  const isElsewhere = value['servers'] !== undefined || shared['servers'] !== undefined
  if (isElsewhere || !isUsablePath(path)) {
    lose(`left out: ${isElsewhere ? 'it has a server of its own' : 'its path cannot be called'}`, isElsewhere)
    return undefined
  }
  const fields = new ArgumentList()
  const requirement = security.requirementOf(value, key)
  const parameters = readParameters(operation, options, fields, placesOf(requirement, security))
  const body = readBody(operation, options, fields)
  if (parameters === undefined || body === 'unusable') return undefined
  const text = cleanForeignText(
    [operation.summary, value['description']].filter((each): each is string => typeof each === 'string').join('\n'),
    MAX_DESCRIPTION,
  )
  if (text === undefined) lose('has no description; it is described by its method and path')
  const input = fields.toSchema()
  return {
    document: {
      apiVersion: 'svc/v1',
      kind: 'Tool',
      metadata: { name, namespace, version: '1.0.0' },
      spec: {
        description: text ?? `${method} ${path}`,
        side_effect_class: classOf(operation, options),
        input_schema: { inline: input },
      },
    },
    operation: {
      method,
      path,
      parameters,
      ...(body && { body }),
      ...(requirement && { security: requirement }),
    },
  }
}

/** Where the secrets of an operation are sent, as `header x-api-key`. */
function placesOf(requirement: RecordedOperation['security'], { schemes }: OpenApiSecurity): ReadonlySet<string> {
  const used = (requirement ?? []).flat().flatMap((name) => (Object.hasOwn(schemes, name) ? [schemes[name]!] : []))
  return new Set(used.flatMap((each) => (each.type === 'apiKey' ? [placeKey(each.in, each.name)] : [])))
}

const placeKey = (place: string, name: string): string => `${place} ${place === 'header' ? name.toLowerCase() : name}`

/** Braces are those of parameters, and no segment leads out of the address. */
const isUsablePath = (path: string): boolean =>
  /^\/[^?#\\\s\p{Cc}]*$/u.test(path) &&
  !/[{}]/.test(path.replace(/\{[^{}]+\}/g, '')) &&
  !path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))

const METHOD_CLASSES: Readonly<Record<string, SideEffectClass>> = {
  GET: 'read_only',
  HEAD: 'read_only',
  PUT: 'idempotent_write',
  DELETE: 'idempotent_write',
}

/** A foreign document may make a class stricter; a looser one would be called again, or without approval, on its word alone. */
function classOf(
  { key, method, value }: OpenApiOperation,
  { losses, trustClasses }: ToolImportOptions,
): SideEffectClass {
  const usual = METHOD_CLASSES[method] ?? 'non_idempotent_write'
  const given = value['x-svc-class']
  if (given === undefined) return usual
  const strictness = strictnessOf(given)
  if (strictness < 0) {
    losses.add(
      key,
      `x-svc-class ${shortenText(JSON.stringify(given), 60)} is no class: it is an irreversible_action`,
      true,
    )
    return 'irreversible_action'
  }
  if (strictness >= strictnessOf(usual) || trustClasses) return SIDE_EFFECT_CLASSES[strictness]!
  losses.add(
    key,
    `x-svc-class ${SIDE_EFFECT_CLASSES[strictness]} is looser than ${method} and not taken (--trust-classes takes it)`,
    true,
  )
  return usual
}

/** Of all arguments; the rest of the bounds is for names and descriptions of parameters. */
const MAX_BYTES = 48 * 1024
const MAX_NODES = 1200

/** The arguments of a tool, with names that vendors accept, each once. */
class ArgumentList {
  readonly #schemas = new Map<string, JsonValue>()
  readonly #required: string[] = []

  /** For the next argument: half of what is left, so that all of them together stay within the bounds. */
  room(): SchemaRoom {
    const used = JSON.stringify([...this.#schemas])
    const nodes = used.split('{').length + used.split('[').length
    return { bytes: (MAX_BYTES - Buffer.byteLength(used)) / 2, nodes: (MAX_NODES - nodes) / 2 }
  }

  add(wanted: string, place: string, schema: JsonValue, isRequired: boolean): string {
    const valid = wanted.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^_+(?=.)|(?<=.)_+$/g, '')
    const plain = cutText(valid, 50).text || place
    let name = REFUSED_NAMES.has(plain) ? place : plain
    for (let count = 1; this.#schemas.has(name); count++) name = `${place}_${plain}${count === 1 ? '' : count}`
    this.#schemas.set(name, schema)
    if (isRequired) this.#required.push(name)
    return name
  }

  toSchema(): JsonObject {
    return {
      type: 'object',
      ...(this.#required.length > 0 && { required: this.#required }),
      properties: Object.fromEntries(this.#schemas),
      additionalProperties: false,
    }
  }
}

const PLACES: readonly string[] = ['path', 'query', 'header', 'cookie']

const STYLES: Readonly<Record<ParameterPlace, readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** Undefined where a parameter that is needed cannot be sent. */
function readParameters(
  operation: OpenApiOperation,
  { document, losses }: ToolImportOptions,
  fields: ArgumentList,
  secretPlaces: ReadonlySet<string>,
): OperationParameter[] | undefined {
  const { key, path, value, shared } = operation
  const found = new Map<string, JsonObject>()
  for (const given of [shared['parameters'], value['parameters']].flatMap((each) =>
    Array.isArray(each) ? each : [],
  )) {
    const parameter = resolveObject(document.root, given)
    const { name, in: place } = parameter ?? {}
    if (parameter && typeof name === 'string' && typeof place === 'string' && PLACES.includes(place))
      found.set(`${place} ${name}`, parameter)
    else losses.add(key, 'a parameter cannot be read and is left out', true)
  }
  const inPath = new Set([...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!))
  for (const name of inPath)
    if (!found.has(`path ${name}`)) found.set(`path ${name}`, { name, in: 'path', schema: { type: 'string' } })
  const parameters: OperationParameter[] = []
  for (const parameter of found.values()) {
    const place = parameter['in'] as ParameterPlace
    const name = parameter['name'] as string
    if (place === 'path' && !inPath.has(name)) continue
    // A model that sets it would call under another key.
    if (secretPlaces.has(placeKey(place, name))) continue
    const isRequired = place === 'path' || parameter['required'] === true
    if (place === 'header' && RESERVED_HEADERS.has(name.toLowerCase())) {
      // OpenAPI itself ignores these three here, and svc sets the last.
      if (!['accept', 'content-type', 'authorization', 'idempotency-key'].includes(name.toLowerCase()))
        losses.add(key, `the header ${name} is left out: no argument sets it`, isRequired)
      continue
    }
    const style = styleOf(parameter, place)
    const isWritable = style !== undefined && !(place === 'header' && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name))
    if (!isWritable) {
      if (!isRequired) {
        losses.add(key, `the ${place} parameter ${name} cannot be sent and is left out`)
        continue
      }
      losses.add(key, `left out: its ${place} parameter ${name} cannot be sent`)
      return undefined
    }
    const schema = convertSchema(document, schemaOf(parameter), fields.room(), (what, authority) =>
      losses.add(key, `${name}: ${what}`, authority),
    )
    const text = cleanForeignText(parameter['description'], 300)
    const argument = fields.add(
      name,
      place,
      { ...schema, ...(text !== undefined && { description: text }) },
      isRequired,
    )
    const isReserved = place === 'query' && parameter['allowReserved'] === true
    parameters.push({ argument, name, in: place, ...style, ...(isReserved && { allowReserved: true }) })
  }
  return parameters
}

const contentOf = (given: JsonObject): readonly (readonly [string, JsonValue])[] =>
  isJsonObject(given['content']) ? Object.entries(given['content']) : []

function schemaOf(parameter: JsonObject): JsonValue | undefined {
  const media = contentOf(parameter)[0]?.[1]
  return isJsonObject(media) ? media['schema'] : parameter['schema']
}

function styleOf(parameter: JsonObject, place: ParameterPlace): WrittenStyle | undefined {
  const media = contentOf(parameter)[0]?.[0]
  if (media !== undefined) return isJsonMedia(media) ? { style: 'json', explode: false } : undefined
  const style = (parameter['style'] ?? STYLES[place][0]!) as ParameterStyle
  if (!STYLES[place].includes(style)) return undefined
  const explode = typeof parameter['explode'] === 'boolean' ? parameter['explode'] : style === 'form'
  // A cookie has one value for its name.
  return { style, explode: place === 'cookie' ? false : explode }
}

const isJsonMedia = (type: string): boolean => /^[^;]+[/+]json\s*(?:;|$)/i.test(type)
const FORM = 'application/x-www-form-urlencoded'

function readBody(
  { key, method, value }: OpenApiOperation,
  { document, losses }: ToolImportOptions,
  fields: ArgumentList,
): OperationBody | 'unusable' | undefined {
  if (value['requestBody'] === undefined) return undefined
  const body = resolveObject(document.root, value['requestBody'])
  if (body === undefined) {
    losses.add(key, 'left out: its body cannot be read', true)
    return 'unusable'
  }
  if (method === 'GET' || method === 'HEAD') {
    losses.add(key, `the body of a ${method} is left out`)
    return undefined
  }
  // A line break would begin another header.
  const types = contentOf(body).filter(([type]) => /^[\x20-\x7e]+$/.test(type))
  const chosen =
    types.find(([type]) => /^application\/json\s*(?:;|$)/i.test(type)) ??
    types.find(([type]) => isJsonMedia(type)) ??
    types.find(([type]) => type.toLowerCase().startsWith(FORM)) ??
    types.find(([type]) => type === '*/*' || type === 'application/*')
  if (!chosen) {
    losses.add(
      key,
      `left out: its body is ${
        types
          .map(([type]) => shortenText(type, 60))
          .slice(0, 3)
          .join(', ') || 'of no type'
      }`,
    )
    return 'unusable'
  }
  const media = isJsonObject(chosen[1]) ? chosen[1] : {}
  const named = chosen[0].toLowerCase().startsWith(FORM) ? FORM : chosen[0]
  const mediaType = chosen[0].includes('*') ? 'application/json' : named
  const schema = convertSchema(document, media['schema'], fields.room(), (what, authority) =>
    losses.add(key, `body: ${what}`, authority),
  )
  const text = cleanForeignText(body['description'], 300)
  const argument = fields.add(
    'body',
    'body',
    { ...schema, ...(text !== undefined && { description: text }) },
    body['required'] === true,
  )
  const styles = mediaType === FORM ? fieldStyles(media['encoding']) : {}
  return { argument, mediaType, ...(Object.keys(styles).length > 0 && { fields: styles }) }
}

function fieldStyles(encoding: JsonValue | undefined): Record<string, WrittenStyle> {
  const styles: Record<string, WrittenStyle> = {}
  for (const [name, each] of Object.entries(isJsonObject(encoding) ? encoding : {})) {
    if (!isJsonObject(each) || name === '__proto__') continue
    if (each['style'] !== undefined || each['explode'] !== undefined) {
      const style = styleOf(
        { style: each['style'] ?? 'form', ...(each['explode'] !== undefined && { explode: each['explode'] }) },
        'query',
      )
      if (style) styles[name] = style
    } else if (typeof each['contentType'] === 'string' && isJsonMedia(each['contentType']))
      styles[name] = { style: 'json', explode: false }
  }
  return styles
}
