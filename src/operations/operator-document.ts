/** The OpenAPI document of the operator application, from the table of operations. Bodies of `/v1` come from the document of the API. */
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
import { object, type SchemaFields, type TypedSchema } from './schema.ts'

const COMPONENT = /"#\/components\/schemas\/([^"]+)"/g

/**
 * @param api document of the HTTP interface, whose schemas the operations refer to
 * @returns an OpenAPI 3.1 document
 */
export function operatorDocument(api: JsonObject): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const [route, operation] of Object.entries<Operation>(operations)) {
    const [method = '', path = ''] = route.split(' ')
    const template = path.replace(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: describeOperation(method, path, operation) }
  }
  const { schemas } = api['components'] as { readonly schemas: JsonObject }
  const { license, contact } = api['info'] as JsonObject
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc operator API',
      version: '1',
      description:
        'What operators may ask of a server: over the Unix socket admin.sock of its data directory, where no key is needed, and with a ' +
        'credential at the listener of the console. It belongs to the version of the server, and may change with the next one. The ' +
        'routes under /v1 are served there too.',
      ...(contact !== undefined && { contact }),
      ...(license !== undefined && { license }),
    },
    servers: [{ url: '/' }],
    security: [{ operatorKey: [] }],
    tags: [...new Set(Object.keys(operations).map(subjectOf))].map((name) => ({
      name,
      description: `Routes of ${name.replaceAll('-', ' ')}.`,
    })),
    paths,
    components: {
      securitySchemes: {
        operatorKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Operator-Key',
          description: 'A credential that svc keys create --operator prints.',
        },
      },
      schemas: schemasBehind({ paths, refusal: REFUSAL }, schemas),
    },
  }
}

const REFUSAL: JsonObject = {
  description: 'Refused; code says why',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
}

function describeOperation(method: string, path: string, { about, query, body, answer }: Operation): JsonObject {
  const parameters = [...pathParameters(path), ...queryParameters(query)]
  const words = path.split(/[/-]/).filter((word) => word !== '')
  return {
    operationId: [method.toLowerCase(), ...words.map((word) => capitalize(word.replace(/^:/, 'by-')))]
      .join('')
      .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [subjectOf(` ${path}`)],
    summary: `${method} ${path}`,
    ...(about !== undefined && { description: about }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: requestContent(body) } }),
    responses: {
      '200': {
        description: 'Done',
        content: answer === 'stream' ? { '*/*': {} } : { 'application/json': { schema: answer.schema } },
      },
      '4XX': REFUSAL,
      '5XX': REFUSAL,
    },
  }
}

const pathParameters = (path: string): readonly JsonObject[] =>
  (path.match(/(?<=:)\w+/g) ?? []).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

function queryParameters(query: SchemaFields | undefined): readonly JsonObject[] {
  const { properties = {}, required = [] } = object(query ?? {}).schema as {
    readonly properties?: Readonly<Record<string, JsonObject>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }))
}

const requestContent = (body: TypedSchema<never> | 'bytes'): JsonObject =>
  body === 'bytes' ? { 'application/octet-stream': {} } : { 'application/json': { schema: body.schema } }

/** The first word of a path: `GET /runs/:id/step` is about `runs`. */
const subjectOf = (route: string): string => /(?<=\/)[^/]+/.exec(route)?.[0] ?? route

const capitalize = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

/** The schemas that a document refers to, and those that they refer to. */
function schemasBehind(document: JsonValue, schemas: JsonObject): JsonObject {
  const found: Record<string, JsonValue> = {}
  const follow = (from: JsonValue): void => {
    for (const [, name] of JSON.stringify(from).matchAll(COMPONENT)) {
      if (name === undefined || Object.hasOwn(found, name)) continue
      const schema = schemas[name] ?? {}
      found[name] = schema
      follow(schema)
    }
  }
  follow(document)
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
}
