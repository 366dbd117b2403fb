/** `schemas/openapi.yaml` as a judge of answers: what a server says must be in it, to the last property. */
import { readFileSync } from 'node:fs'
import addFormats from 'ajv-formats'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'

interface MediaType {
  readonly schema: object
  readonly examples?: Readonly<Record<string, object>>
}
interface Answer {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, MediaType>>
}
export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly 'x-svc-extension'?: boolean
  readonly requestBody?: unknown
  readonly responses: Readonly<Record<string, Answer>>
}
type PathItem = Readonly<Record<string, Operation>>

interface OpenApi {
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: Record<string, Record<string, unknown>>
    readonly responses: Readonly<Record<string, Answer>>
    readonly requestBodies: Readonly<Record<string, Answer>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
    readonly headers: Readonly<Record<string, { readonly schema: object }>>
  }
}

const METHODS = ['get', 'post', 'patch', 'delete']

export const openApi = parse(
  readFileSync(new URL('../../schemas/openapi.yaml', import.meta.url), 'utf8'),
) as unknown as OpenApi

/** `METHOD /v1/…/{name}` of every operation. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries(openApi.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      item[method]!,
    ]),
  ),
)

/** Judges a value by a schema of the document, with every object closed. */
export const closedSchemaOf = (name: string): ValidateFunction =>
  validatorOf(closed, { $ref: `api#/components/schemas/${name}`, unevaluatedProperties: false })

/** What is wrong with a value by a schema, with every object closed. */
export function closedFaultsOf(schema: object, value: unknown): string[] {
  const validate = validatorOf(closed, closedSchema(schema) as object)
  return validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** An example of `components/examples`. */
export const exampleOf = (name: string): unknown => openApi.components.examples[name]!.value

/** Every example of a body, asked or answered, with the schema that it is of. */
export function examplesOf() {
  return [...operations].flatMap(([line, operation]) => {
    const asked = named(operation.requestBody as Answer | undefined, 'requestBodies')
    const answered = Object.values(operation.responses).map((answer) => named(answer, 'responses'))
    return [asked, ...answered].flatMap((part) =>
      Object.values(part?.content ?? {}).flatMap(({ schema, examples = {} }) =>
        Object.keys(examples).map((name) => ({
          name,
          place: `${line}: ${name}`,
          operationId: operation.operationId,
          schema,
          value: exampleOf(name),
        })),
      ),
    )
  })
}

const named = (part: Answer | undefined, kind: 'responses' | 'requestBodies'): Answer | undefined =>
  part?.$ref === undefined ? part : openApi.components[kind][part.$ref.split('/').at(-1)!]

/** Judges a value by a schema of the document, as it is written. */
export const schemaOf = (name: string): ValidateFunction =>
  validatorOf(open, { $ref: `api#/components/schemas/${name}` })

/**
 * What of an answer is not in the document; nothing where all is. A path that the document does not have must be 404, a
 * method that a path does not have 405.
 */
export async function faultsOf(method: string, path: string, response: Response): Promise<string[]> {
  const text = await response.clone().text()
  const pathname = path.split('?', 1)[0]!
  const template = isDecodable(pathname)
    ? (templateOf(pathname) ?? (response.ok ? templateOf(pathname.replace(/\/$/, '')) : undefined))
    : undefined
  const operation = template && openApi.paths[template]![(method === 'HEAD' ? 'GET' : method).toLowerCase()]
  const expected = operation
    ? resolve(operation.responses[response.status])
    : (template ? [403, 405] : pathname.endsWith('/') ? SLASHED : [403, 404]).includes(response.status)
      ? openApi.components.responses['problem']
      : undefined
  if (!expected) return [`${method} ${template ?? pathname} does not answer ${response.status}`]
  return [...headerFaults(expected, response), ...(method === 'HEAD' ? [] : bodyFaults(expected, response, text))]
}

const templateOf = (pathname: string): string | undefined =>
  Object.keys(openApi.paths).find((each) => patternOf(each).test(pathname))

/** The router takes a slash at the end, and an id that is empty, as it likes: refused is all they must be. */
const SLASHED = [401, 403, 404, 405]

function headerFaults({ headers = {} }: Answer, response: Response): string[] {
  const faults: string[] = []
  for (const [name, { $ref }] of Object.entries(headers)) {
    const text = response.headers.get(name)
    const { schema } = openApi.components.headers[$ref.split('/').at(-1)!]!
    const value = (schema as { type?: string }).type === 'integer' && text !== null ? Number(text) : text
    // Only some refusals carry their limits, and only a request that asked to wait learns what was granted.
    const isOptional = name.startsWith('RateLimit') || name === 'Preference-Applied'
    if (value === null && !isOptional) faults.push(`no ${name}`)
    if (value !== null && !validatorOf(closed, schema)(value)) faults.push(`${name}: ${text}`)
  }
  return faults
}

function bodyFaults({ content }: Answer, response: Response, text: string): string[] {
  const type = response.headers.get('content-type')
  if (!content) return text === '' && type === null ? [] : [`a body where there is none: ${text.slice(0, 80)}`]
  const media = content[type ?? '']
  if (!media) return [`content-type ${type}`]
  const values =
    type === 'text/event-stream'
      ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as unknown)
      : [JSON.parse(text) as unknown]
  const validate = validatorOf(closed, closedSchema(media.schema) as object)
  return values.flatMap((value) =>
    validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message, params }) =>
          [instancePath, message, JSON.stringify(params)].join(' '),
        ),
  )
}

/** What is no percent-encoding names no path. */
function isDecodable(pathname: string): boolean {
  try {
    decodeURIComponent(pathname)
    return true
  } catch {
    return false
  }
}

const resolve = (answer: Answer | undefined): Answer | undefined =>
  answer?.$ref === undefined ? answer : openApi.components.responses[answer.$ref.split('/').at(-1)!]

const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

function ajvOf(document: OpenApi): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  return ajv.addSchema(document, 'api')
}

/**
 * A schema with every object closed: a property that it does not name is a fault. References are closed where they stand, since
 * a part of a larger object must stay open in it.
 */
function closedSchema(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => closedSchema(each))
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).map(([key, each]) => [
    key,
    key === 'allOf' ? (each as unknown[]).map((part) => closedSchema(part, true)) : closedSchema(each),
  ])
  const isObject =
    '$ref' in schema
      ? isObjectNamed(String(schema.$ref))
      : 'allOf' in schema || ('type' in schema && 'properties' in schema)
  return { ...Object.fromEntries(members), ...(isObject && !isPart && { unevaluatedProperties: false }) }
}

/** True where a reference is to an object of named properties; any value may be behind others. */
function isObjectNamed(ref: string): boolean {
  const schema = openApi.components.schemas[ref.split('/').at(-1)!]
  return schema !== undefined && ('properties' in schema || 'allOf' in schema)
}

/** The document as it judges answers. */
function closing(document: OpenApi): OpenApi {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [
    name,
    closedSchema(schema, true),
  ])
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } } as OpenApi
}

const open = ajvOf(openApi)
const closed = ajvOf(closing(openApi))
const compiled = new Map<Ajv2020, Map<string, ValidateFunction>>()

/** References of the document are within it. */
function validatorOf(ajv: Ajv2020, schema: object): ValidateFunction {
  const known = compiled.get(ajv) ?? new Map<string, ValidateFunction>()
  compiled.set(ajv, known)
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')
  const found = known.get(text) ?? ajv.compile(JSON.parse(text) as object)
  known.set(text, found)
  return found
}
