// Writes from schemas/openapi.yaml and src/operations/ what the code has of the HTTP interface: the validators of
// what is asked (src/server/generated/), and with --types the types of what travels, which are kept in the repository: in
// clients/typescript/src/generated/, since the client imports nothing from src/, and src/spec/api.ts names them for the server.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { parse } from 'yaml'
import { readOperations } from './read-operations.js'
import { createTypeWriter, literal } from './type-writer.js'
import { writeGenerated } from './write-generated.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const api = parse(readFileSync(`${root}/schemas/openapi.yaml`, 'utf8'))
const { schemas } = api.components

const nameOf = (ref) => ref.split('/').at(-1)
const resolve = (part) => {
  if (part?.$ref === undefined) return part
  const { $ref, ...beside } = part
  return {
    ...$ref
      .slice(2)
      .split('/')
      .reduce((at, key) => at[key], api),
    ...beside,
  }
}

/** True for a schema that becomes an interface and whose values may be null, such as the content of an erased step. */
const isInterfaceOrNull = ({ type, properties, allOf }) =>
  allOf?.every((part) => isInterfaceOrNull(resolve(part))) ??
  (properties !== undefined && Array.isArray(type) && type.includes('null'))

/* Types */

const { declarationOf } = createTypeWriter(nameOf, (schema) => isInterfaceOrNull(resolve(schema)))

const declarations = Object.entries(schemas).map(([name, schema]) => declarationOf(name, schema))
const types = [
  '// Written by scripts/openapi.js from schemas/openapi.yaml.\n',
  'export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }',
  'export type JsonObject = { [key: string]: JsonValue }\n',
  ...declarations,
].join('\n')

const operations = await readOperations()

/* Validators */

/** The schema with its references written out, and without what only describes. */
const whole = (schema) => {
  if (Array.isArray(schema)) return schema.map(whole)
  if (typeof schema !== 'object' || schema === null) return schema
  const {
    description: _d,
    examples: _e,
    'x-extensible-enum': _w,
    'x-svc-extension': _x,
    'x-type': _t,
    ...rest
  } = resolve(schema)
  // Says only which values have a name: any value fits.
  if (Object.values(rest.patternProperties ?? {}).every(({ anyOf }) => anyOf !== undefined))
    delete rest.patternProperties
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, whole(value)]))
}

/** What the query of an operation may hold. Headers are checked one by one. */
const queryOf = (parameters) => ({
  type: 'object',
  properties: Object.fromEntries(
    parameters
      .map(resolve)
      .filter((each) => each.in === 'query')
      .map(({ name, schema }) => [name, whole(schema)]),
  ),
})

/** Checks of `/v1`, and of the operator's routes: a server that starts needs the former alone. */
const asked = {
  api: {
    startBody: whole(schemas.StartRunBody),
    messageBody: whole(schemas.MessageBody),
    presignBody: whole(schemas.PresignBody),
    finalizeBody: whole(schemas.FinalizeBody),
    cancelBody: whole(schemas.CancelBody),
    signalBody: whole(schemas.SignalBody),
    completionBody: whole(schemas.CompletionBody),
    sessionPatch: whole(schemas.SessionPatch),
    sessionsQuery: queryOf(api.paths['/v1/agents/{agentId}/sessions'].get.parameters),
    conversationQuery: queryOf(api.paths['/v1/runs/{runId}/conversation'].get.parameters),
    sessionQuery: queryOf(api.paths['/v1/sessions/{sessionId}'].get.parameters),
    tasksQuery: queryOf(api.paths['/v1/tasks'].get.parameters),
    valueQuery: queryOf(api.paths['/v1/runs/{runId}/values/{digest}'].get.parameters),
    idempotencyKey: whole(api.components.parameters.idempotencyKey.schema),
  },
  operator: Object.fromEntries(
    operations.flatMap(({ route, body, query }) => [
      ...(body === undefined || body === 'bytes' ? [] : [[`${route} body`, whole(body)]]),
      ...(query === undefined ? [] : [[`${route} query`, whole(query)]]),
    ]),
  ),
}

/** Types of the query parameters that are not texts, by route. */
const queryTypes = Object.fromEntries(
  operations
    .filter(({ query }) => query)
    .map(({ route, query }) => [
      route,
      Object.fromEntries(
        Object.entries(query.properties).flatMap(([name, { type }]) => (type === 'string' ? [] : [[name, type]])),
      ),
    ]),
)

const require = createRequire(import.meta.url)
const { Ajv2020 } = require('ajv/dist/2020.js')
const standalone = require('ajv/dist/standalone/index.js').default

/**
 * @param schemas by name
 * @param every all that is wrong, or the first of it
 */
const validators = async (schemas, every) => {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: every,
    verbose: true,
    formats: {
      uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
      // For generators alone, which take 32 bits otherwise; the bounds stand beside it.
      int64: true,
    },
    allowUnionTypes: true,
    keywords: ['x-message'],
    code: { source: true, esm: true, lines: false },
  })
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name)
  // A route is no identifier, so checks are exported by number.
  const code = standalone(ajv, Object.fromEntries(Object.keys(schemas).map((name, at) => [`check${at}`, name])))
  const table = `\nexport const checks = { ${Object.keys(schemas)
    .map((name, at) => `${JSON.stringify(name)}: check${at}`)
    .join(', ')} }\n`
  const { outputFiles } = await build({
    stdin: { contents: code.replaceAll('export const ', 'const ') + table, resolveDir: root, loader: 'js' },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['main'],
    minifySyntax: true,
    // No stack of it is read by people.
    minifyIdentifiers: true,
    write: false,
  })
  return outputFiles[0].text
}

const declared = (schemas) => `import type { ErrorObject } from 'ajv'
interface Check {
  (value: unknown): boolean
  errors?: readonly ErrorObject[] | null
}
export declare const checks: Readonly<Record<${Object.keys(schemas).map(literal).join(' | ')}, Check>>
`
const QUERY_TYPES = 'src/server/generated/query-types.js'
const queryTypesText = `/** Types of the parameters of operator queries that are not texts, by route. */
export const queryTypes = ${JSON.stringify(queryTypes)}\n`
const queryTypesDeclared =
  "export declare const queryTypes: Readonly<Record<string, Readonly<Record<string, 'integer' | 'boolean'>>>>\n"

/* Writing */

// They take a while, and are not kept in the repository. What finds every fault of an operator's request is compiled where one is refused.
const CHECKS = [
  { file: 'src/server/generated/api-first', schemas: asked.api, every: false, declaration: declared(asked.api) },
  {
    file: 'src/server/generated/api-every',
    schemas: asked.api,
    every: true,
    declaration: "export { checks } from './api-first.js'\n",
  },
  {
    file: 'src/server/generated/operator-first',
    schemas: asked.operator,
    every: false,
    declaration: declared(asked.operator),
  },
]
if (!process.argv.includes('--check')) {
  await Promise.all(
    CHECKS.map(async ({ file, schemas, every }) => writeGenerated(`${file}.js`, await validators(schemas, every))),
  )
  writeGenerated(QUERY_TYPES, queryTypesText)
}
if (process.argv.includes('--types')) {
  const { formatGenerated } = await import('./format-generated.js')
  const written = [
    ['clients/typescript/src/generated/api.ts', types],
    ...CHECKS.map(({ file, declaration }) => [`${file}.d.ts`, declaration]),
    [QUERY_TYPES.replace(/js$/, 'd.ts'), queryTypesDeclared],
  ]
  for (const [file, text] of written) writeGenerated(file, await formatGenerated(file, text))
}
