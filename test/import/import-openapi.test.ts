import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { ProjectConfig } from '../../src/spec/project/config.ts'
import { measureSchema } from '../../src/tools/check/schema-size.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { invoke, toolNamed } from '../tools/invocation.ts'
import { svc, type Ran } from '../cli/recording-io.ts'
import { expandable, manyOperations, petstore } from './sources.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-import-'))
  write('svc.config.yaml', '# The pets.\nworkspace: pets # ours\n')
})

const write = (path: string, text: string): void => writeFileSync(join(cwd, path), text)
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8')
const filesOf = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()
const importOf = async (source: JsonValue, ...more: string[]): Promise<Ran> => {
  write('source.json', JSON.stringify(source))
  return await svc(['import', 'openapi', 'source.json', ...more], { cwd })
}
interface ImportAnswer {
  readonly documents: readonly { readonly path: string; readonly action: string }[]
  readonly lost: readonly { readonly at: string; readonly what: string; readonly authority: boolean }[]
  readonly questions: readonly { readonly path: string; readonly what: string }[]
}
const answerOf = ({ stdout }: Ran): ImportAnswer => JSON.parse(stdout) as ImportAnswer
const lostOf = (ran: Ran): string[] =>
  answerOf(ran).lost.map(({ at, what, authority }) => `${authority ? 'authority ' : ''}${at}: ${what}`)

test('each operation becomes a Tool document, and a route in the project file', async () => {
  expect(await importOf(petstore())).toEqual({
    code: 0,
    asked: [],
    stdout: 'source.json: 4 created as petstore.*\n',
    stderr: 'next:  svc lint, then bind the tools in an agent: ref: petstore.list_pets@^1.0.0\n',
  })
  expect(readdirSync(join(cwd, 'tools/petstore'))).toEqual([
    'create_pet.yaml',
    'delete_pet.yaml',
    'get_pet.yaml',
    'list_pets.yaml',
  ])
  expect(read('tools/petstore/create_pet.yaml'))
    .toBe(`# Imported from source.json. Its texts are the source's: read them before an agent does.

apiVersion: svc/v1
kind: Tool
metadata:
  name: create_pet
  namespace: petstore
  version: 1.0.0
spec:
  description: Adds a pet.
  side_effect_class: non_idempotent_write
  input_schema:
    inline:
      type: object
      required:
        - body
      properties:
        body:
          type: object
          properties:
            name:
              type: string
              description: Its name.
              maxLength: 80
            age:
              type:
                - integer
                - "null"
              exclusiveMinimum: 0
          additionalProperties: false
          required:
            - name
      additionalProperties: false
`)
  expect(read('svc.config.yaml')).toBe(`# The pets.
workspace: pets # ours
tools:
  petstore.*:
    openapi:
      url: https://pets.example/v2
      record: imports/petstore.json
      security:
        api_key:
          fromEnv: OPENAPI_PETSTORE_API_KEY
        basic:
          fromEnv: OPENAPI_PETSTORE_BASIC
`)
  const record = JSON.parse(read('imports/petstore.json')) as { operations: JsonObject; securitySchemes: JsonObject }
  expect(record.operations['petstore.delete_pet']).toEqual({
    method: 'DELETE',
    path: '/pets/{petId}',
    parameters: [{ argument: 'petId', name: 'petId', in: 'path', style: 'simple', explode: false }],
    security: [['basic'], ['api_key']],
  })
  expect(record.operations['petstore.get_pet']).not.toHaveProperty('security')
})

test('what is written lints without errors and warnings, and is in canonical form', async () => {
  await importOf(petstore())
  await importOf(expandable())
  const lint = await svc(['lint', '--json'], { cwd })
  const { errors, warnings } = JSON.parse(lint.stdout) as { errors: number; warnings: number }
  expect({ code: lint.code, errors, warnings }).toEqual({ code: 0, errors: 0, warnings: 0 })
  expect((await svc(['fmt', '--check', 'tools'], { cwd })).code).toBe(0)
})

const keysOf = (value: JsonValue): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, each]: [string, JsonValue]) => [key, ...keysOf(each)])
    : []

test.each(['__proto__', 'constructor'])(
  'what is written has no name that a body of `/v1` must not have: %s',
  async (name) => {
    const properties = JSON.parse(`{"${name}": {"type": "string"}, "kept": {"type": "string"}}`) as JsonObject
    const schema = { type: 'object', required: [name, 'kept'], properties }
    const places = ['query', 'header', 'cookie', 'path']
    const paths = {
      [`/${name}/{${name}}`]: {
        post: {
          operationId: name,
          parameters: places.map((place) => ({ name, in: place, schema: { type: 'string' } })),
          requestBody: { content: { 'application/json': { schema: { allOf: [schema] } } } },
        },
      },
    }
    const lost = lostOf(await importOf({ ...petstore(), paths }, '--json'))
    expect(lost).toContain(`POST /${name}/{${name}}: body: the property \`${name}\` is left out`)
    const [file] = readdirSync(join(cwd, 'tools/petstore'))
    const written = parse(read(`tools/petstore/${file}`)) as JsonValue
    expect(keysOf(written).filter((key) => key === name)).toEqual([])
    expect(keysOf(written)).toContain('kept')
    const { operations } = JSON.parse(read('imports/petstore.json')) as {
      operations: Record<string, { parameters: { name: string; argument: string }[] }>
    }
    const [{ parameters }] = Object.values(operations) as [{ parameters: { name: string; argument: string }[] }]
    expect(parameters.map((each) => each.name)).toEqual(places.map(() => name))
    expect(new Set(parameters.map((each) => each.argument).filter((each) => each !== name)).size).toBe(4)
  },
)

test('an imported tool calls its operation', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${String(request.headers['x-api-key'])}`)
    response.setHeader('content-type', 'application/json').end('{"id":"p-1"}')
  })
  try {
    await importOf(petstore(), '--server', await listen(server))
    const config = parse(read('svc.config.yaml')) as ProjectConfig
    const call = (id: string, args: JsonObject) =>
      invoke(config, toolNamed(id), args, { configDir: cwd, env: { OPENAPI_PETSTORE_API_KEY: 'k-1' } })
    expect(await call('petstore.list_pets', { limit: 5, filter: { kind: 'a cat' } })).toEqual({
      at: 'returned',
      isError: false,
      result: { id: 'p-1' },
    })
    await call('petstore.delete_pet', { petId: 'p/1' })
    expect(seen).toEqual(['GET /pets?limit=5&filter%5Bkind%5D=a%20cat k-1', 'DELETE /pets/p%2F1 k-1'])
  } finally {
    await stop(server)
  }
})

test.each<[string[], string[]]>([
  [[], ['GET /pets', 'POST /pets', 'GET /pets/{petId}', 'DELETE /pets/{petId}']],
  [['--tag', 'admin'], ['DELETE /pets/{petId}']],
  [
    ['--tag', 'p*', '--tag', 'admin'],
    ['GET /pets', 'POST /pets', 'GET /pets/{petId}', 'DELETE /pets/{petId}'],
  ],
  [
    ['--path', '/*'],
    ['GET /pets', 'POST /pets'],
  ],
  [
    ['--path', '/pets/{petId}'],
    ['GET /pets/{petId}', 'DELETE /pets/{petId}'],
  ],
  [['--path', '/**', '--operation', 'get*'], ['GET /pets/{petId}']],
  [['--operation', 'list_pets'], ['GET /pets']],
])('--list %j writes nothing', async (more, operations) => {
  const { stdout } = await importOf(petstore(), '--list', ...more, '--json')
  expect((JSON.parse(stdout) as { items: { operation: string }[] }).items.map(({ operation }) => operation)).toEqual(
    operations,
  )
  expect(readdirSync(cwd).toSorted()).toEqual(['source.json', 'svc.config.yaml'])
})

test('--list with a filter that nothing matches says what there is', async () => {
  const { code, stdout, stderr } = await importOf(petstore(), '--list', '--tag', 'birds')
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(/^None of 4 operations is selected: --tag "pets" \(\d\)/)
})

test.each<[string, JsonValue, string]>([
  ['Swagger 2.0', { swagger: '2.0', paths: {} }, 'Convert it first, for example with `npx swagger2openapi'],
  [
    'another version',
    { openapi: '4.0.0' },
    'source.json is OpenAPI "4.0.0"; texts such as "3.0.3" and "3.1.0" are imported.',
  ],
  ['something else', [1], 'source.json is no OpenAPI document'],
  ['no operation', { openapi: '3.1.0', paths: { '/a': { options: {} } } }, 'No operation of source.json is selected.'],
  ['no server', { ...petstore(), servers: [{ url: '/v1' }] }, 'Give it: --server https://api.example.com'],
])('%s is refused, and nothing is written', async (_, source, message) => {
  const { code, stderr } = await importOf(source)
  expect([code, stderr.replaceAll(/\s+/g, ' ').includes(message) ? message : stderr]).toEqual([2, message])
  expect(readdirSync(cwd).toSorted()).toEqual(['source.json', 'svc.config.yaml'])
})

test('thousands of operations are selected first, with names that are valid and unique', async () => {
  const source = manyOperations(1200)
  const refused = await importOf(source)
  expect([refused.code, refused.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
    2,
    'error[usage]: 1200 operations are selected, of 1200. fix: Select some: --tag "even" (600), --tag "odd" (600), or give --all. ',
  ])
  const { stdout } = await importOf(source, '--list', '--json')
  const names = (JSON.parse(stdout) as { items: { tool: string }[] }).items.map(({ tool }) => tool)
  expect(new Set(names).size).toBe(1200)
  expect(names.filter((name) => !/^[a-z][a-z0-9_]{0,55}$/.test(name))).toEqual([])
  expect(
    answerOf(await importOf(source, '--path', '/repos/*/things1?/*', '--path', '/repos/*/things7/*', '--json'))
      .documents.length,
  ).toBe(11)
})

const withOperation = (operation: JsonObject, more: JsonObject = {}, method = 'get', path = '/a/{id}'): JsonObject => ({
  ...petstore(),
  security: [],
  ...more,
  paths: { [path]: { [method]: { summary: 'Does it.', ...operation } } },
})
const schemes = (scheme: JsonObject) => ({ security: [{ key: [] }], components: { securitySchemes: { key: scheme } } })

test.each<[string, JsonObject, number, string[]]>([
  [
    'a scheme that svc does not offer',
    withOperation({}, schemes({ type: 'mutualTLS' })),
    3,
    ['authority GET /a/{id}: security scheme "key" cannot be carried: calls are refused'],
  ],
  [
    'a scheme that is not declared',
    withOperation({}, { security: [{ none: [] }] }),
    3,
    ['authority GET /a/{id}: security scheme "none" cannot be carried: calls are refused'],
  ],
  [
    'a scheme that svc does not offer, where the source allows none as well',
    withOperation({}, { ...schemes({ type: 'mutualTLS' }), security: [{ key: [] }, {}] }),
    3,
    [
      'authority GET /a/{id}: security scheme "key" cannot be carried: calls are sent without a secret, as the source allows',
    ],
  ],
  [
    'a scheme that svc does not offer, where the source takes another',
    withOperation(
      {},
      {
        security: [{ tls: [] }, { key: [] }],
        components: { securitySchemes: { tls: { type: 'mutualTLS' }, key: { type: 'http', scheme: 'bearer' } } },
      },
    ),
    0,
    ['GET /a/{id}: security scheme "tls" cannot be carried: another that the source takes is used'],
  ],
  [
    'OAuth2',
    withOperation({}, schemes({ type: 'oauth2', flows: {} })),
    3,
    ['authority security scheme key: oauth2: flows and scopes are not carried; the secret is an access token'],
  ],
  [
    'an unknown class',
    withOperation({ 'x-svc-class': 'safe' }),
    3,
    ['authority GET /a/{id}: x-svc-class "safe" is no class: it is an irreversible_action'],
  ],
  [
    'a looser class',
    withOperation({ 'x-svc-class': 'read_only' }, {}, 'post'),
    3,
    ['authority POST /a/{id}: x-svc-class read_only is looser than POST and not taken (--trust-classes takes it)'],
  ],
  ['a stricter class', withOperation({ 'x-svc-class': 'irreversible_action' }), 0, []],
  [
    'a remote reference in an argument',
    withOperation({ parameters: [{ name: 'q', in: 'query', schema: { $ref: 'http://127.0.0.1:1/x.json' } }] }),
    3,
    ['authority GET /a/{id}: q: a reference to elsewhere is left open: http://127.0.0.1:1/x.json'],
  ],
  [
    'a server of its own',
    withOperation({ servers: [{ url: 'https://other.example' }] }),
    3,
    ['authority GET /a/{id}: left out: it has a server of its own'],
  ],
  [
    'a plain address',
    withOperation({}, { servers: [{ url: 'http://pets.example' }] }),
    3,
    ['authority servers: http://pets.example is not https: calls are refused until `url` is'],
  ],
  [
    'a body that is not sent',
    withOperation({ requestBody: { content: { 'multipart/form-data': {} } } }, {}, 'post'),
    0,
    ['POST /a/{id}: left out: its body is multipart/form-data'],
  ],
  ...['/a/../b', '/a/%2e%2E', '/./a', '/a/{id', '/a}', '/{}', '/a\\b', '/a?b', '/a\u0007'].map(
    (path): [string, JsonObject, number, string[]] => [
      `the path ${JSON.stringify(path)}`,
      withOperation({}, {}, 'get', path),
      0,
      [`GET ${path}: left out: its path cannot be called`],
    ],
  ),
  ...['http://127.0.0.1:1/p.json', './p.yaml', '#/none'].map(($ref): [string, JsonObject, number, string[]] => [
    `a path that is ${$ref}`,
    { ...petstore(), security: [], paths: { '/a': { get: { summary: 'Does it.' } }, '/b': { $ref } } },
    0,
    ['/b: left out: its operations cannot be read here; references out of the document are not followed'],
  ]),
  [
    'a body whose type would begin another header',
    withOperation({ requestBody: { content: { 'application/json;\r\nx: y': {} } } }, {}, 'post'),
    0,
    ['POST /a/{id}: left out: its body is of no type'],
  ],
  [
    'a header that svc sets',
    withOperation({ parameters: [{ name: 'Host', in: 'header', required: true }] }),
    3,
    ['authority GET /a/{id}: the header Host is left out: no argument sets it'],
  ],
  [
    'a cycle',
    withOperation(
      { parameters: [{ name: 'n', in: 'query', schema: { $ref: '#/x' } }] },
      { x: { type: 'array', items: { $ref: '#/x' } } },
    ),
    0,
    ['GET /a/{id}: n: a cycle is left open: #/x'],
  ],
])('%s is told', async (_, source, code, lost) => {
  const ran = await importOf(source, '--json')
  expect([ran.code, lostOf(ran)]).toEqual([code, lost])
})

test('classes follow the method, and a looser one only if asked for', async () => {
  const classOf = (path: string) =>
    (parse(read(path)) as { spec: { side_effect_class: string } }).spec.side_effect_class
  const methods = {
    get: 'read_only',
    head: 'read_only',
    put: 'idempotent_write',
    delete: 'idempotent_write',
    post: 'non_idempotent_write',
    patch: 'non_idempotent_write',
  }
  const paths = { '/a': Object.fromEntries(Object.keys(methods).map((method) => [method, { operationId: method }])) }
  await importOf({ ...petstore(), paths })
  expect(
    Object.fromEntries(Object.keys(methods).map((each) => [each, classOf(`tools/petstore/${each}.yaml`)])),
  ).toEqual(methods)
  await importOf(
    withOperation({ operationId: 'search', 'x-svc-class': 'read_only' }, {}, 'post', '/search'),
    '--trust-classes',
  )
  expect(classOf('tools/petstore/search.yaml')).toBe('read_only')
})

test('again over edited documents, what the author wrote stays and what the source changed comes', async () => {
  await importOf(petstore())
  const path = 'tools/petstore/create_pet.yaml'
  write(
    path,
    read(path)
      .replace('description: Adds a pet.', 'description: Adds a pet of ours. # checked by Ada')
      .replace('maxLength: 80', 'maxLength: 10')
      .replace('non_idempotent_write', 'irreversible_action'),
  )
  rmSync(join(cwd, 'tools/petstore/get_pet.yaml'))
  mkdirSync(join(cwd, 'moved'))
  write('moved/list.yaml', read('tools/petstore/list_pets.yaml'))
  rmSync(join(cwd, 'tools/petstore/list_pets.yaml'))

  const next = petstore()
  const pet = (next['components'] as { schemas: { Pet: { properties: JsonObject } } }).schemas.Pet
  pet.properties['name'] = { type: 'string', maxLength: 60 }
  pet.properties['colour'] = { type: 'string', enum: ['red'] }
  const pets = (next['paths'] as { '/pets': { get: JsonObject } })['/pets']
  pets.get['summary'] = 'Lists all pets.'
  pets.get['operationId'] = 'findPets'
  delete (next['paths'] as { '/pets/{petId}': JsonObject })['/pets/{petId}']['delete']

  const ran = await importOf(next, '--json')
  expect([ran.code, answerOf(ran).documents, answerOf(ran).questions]).toEqual([
    0,
    [
      { tool: 'petstore.list_pets', operation: 'GET /pets', path: 'moved/list.yaml', action: 'changed' },
      { tool: 'petstore.create_pet', operation: 'POST /pets', path, action: 'changed' },
      {
        tool: 'petstore.get_pet',
        operation: 'GET /pets/{petId}',
        path: 'tools/petstore/get_pet.yaml',
        action: 'removed',
      },
    ],
    [
      { path: 'imports/petstore.json', what: 'DELETE /pets/{petId} is no longer in the source; what it became stays' },
      {
        path,
        what: 'spec.input_schema.inline.properties.body.properties.name.maxLength: the source says 60; yours stays',
      },
    ],
  ])
  const { spec } = parse(read(path)) as { spec: JsonObject }
  expect([spec['description'], spec['side_effect_class'], read(path).includes('# checked by Ada')]).toEqual([
    'Adds a pet of ours.',
    'irreversible_action',
    true,
  ])
  expect(stringify(spec['input_schema'])).toContain('colour')
  expect(read('moved/list.yaml')).toContain('Lists all pets.')

  const again = await importOf(next, '--json')
  expect(answerOf(again).documents.map(({ action }) => action)).toEqual(['unchanged', 'unchanged', 'removed'])
})

test('a class that the source loosens stays', async () => {
  await importOf(withOperation({ operationId: 'act', 'x-svc-class': 'irreversible_action' }))
  const ran = await importOf(withOperation({ operationId: 'act' }), '--json')
  expect(answerOf(ran).questions).toEqual([
    { path: 'tools/petstore/act.yaml', what: 'spec.side_effect_class: the source says "read_only"; yours stays' },
  ])
  expect(read('tools/petstore/act.yaml')).toContain('irreversible_action')
})

test('a document that no import wrote is left as it is', async () => {
  mkdirSync(join(cwd, 'tools/petstore'), { recursive: true })
  const path = 'tools/petstore/list_pets.yaml'
  const own =
    'apiVersion: svc/v1\nkind: Tool\nmetadata: { name: list_pets, namespace: petstore, version: 2.0.0 }\nspec: {}\n'
  write(path, own)
  const { documents, questions } = answerOf(await importOf(petstore(), '--operation', 'listPets', '--json'))
  expect([documents.map(({ action }) => action), questions, read(path)]).toEqual([
    ['kept'],
    [{ path, what: 'was not written by an import, and is left as it is' }],
    own,
  ])
})

test('an address is read under the egress rules, and without what it leads to', async () => {
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    if (request.url === '/away') response.writeHead(302, { location: '/openapi.yaml' }).end()
    else response.end(stringify(petstore()))
  })
  try {
    const base = await listen(server)
    const fetched = await svc(['import', 'openapi', `${base}/openapi.yaml?token=secret`, '--list', '--json'], { cwd })
    expect([fetched.code, (JSON.parse(fetched.stdout) as { total: number }).total, asked]).toEqual([0, 4, 1])
    for (const [source, why] of [
      [`${base}/away`, 'it answered 302'],
      ['http://pets.example/openapi.yaml', 'is not https'],
      ['https://10.0.0.1/openapi.yaml', 'is a private address'],
    ]) {
      const { code, stderr } = await svc(['import', 'openapi', source!], { cwd })
      expect([code, stderr.replaceAll(/\s+/g, ' ').includes(why!) ? why : stderr]).toEqual([2, why])
    }
  } finally {
    await stop(server)
  }
})

test('many large arguments together stay within the bounds of a schema that runs accept', async () => {
  const wide = {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 90 }, (_, at) => [`field_${at}`, { type: 'string', description: 'long '.repeat(60) }]),
    ),
  }
  const parameters = Array.from({ length: 12 }, (_, at) => ({
    name: `q${at}`,
    in: 'query',
    schema: wide,
    description: 'q',
  }))
  await importOf(
    withOperation(
      { operationId: 'wide', parameters, requestBody: { content: { 'application/json': { schema: wide } } } },
      {},
      'post',
    ),
  )
  const { spec } = parse(read('tools/petstore/wide.yaml')) as { spec: { input_schema: { inline: JsonObject } } }
  expect(measureSchema(spec.input_schema.inline)).not.toHaveProperty('problem')
})

test.each([
  ['the id of a tool in the record leads out of the project', 'petstore.../../../../outside'],
  ['the id of a tool in the record has an absolute path', 'petstore./outside'],
])('%s: nothing is written', async (_, id) => {
  await importOf(petstore())
  const record = JSON.parse(read('imports/petstore.json')) as { operations: Record<string, JsonValue> }
  const { 'petstore.get_pet': moved, ...operations } = record.operations
  write('imports/petstore.json', JSON.stringify({ ...record, operations: { ...operations, [id]: moved! } }))
  const before = filesOf(cwd)
  const { code, stderr } = await importOf(petstore())
  expect([code, stderr.replaceAll(/\s+/g, ' ').includes('imports/petstore.json cannot be read')]).toEqual([2, true])
  expect(filesOf(cwd)).toEqual(before)
})

/** Names of an API and of a scheme that spell variables which are set for something else. */
test.each([
  ['OpenAI API', 'apiKey'],
  ['Anthropic', 'api_key'],
  ['AWS', 'secretAccessKey'],
  ['svc host', 'token'],
  ['DATABASE', 'url'],
  ['', 'PATH'],
])('a source named %j with the scheme %j names no variable that others read', async (title, scheme) => {
  await importOf({
    ...petstore(),
    info: { title },
    security: [{ [scheme]: [] }],
    components: { securitySchemes: { [scheme]: { type: 'http', scheme: 'bearer' } } },
  })
  const variables = [...read('svc.config.yaml').matchAll(/fromEnv: (.*)/g)].map(([, name]) => name)
  expect([variables.length, variables.filter((name) => !/^OPENAPI_[A-Z0-9_]+$/.test(name!))]).toEqual([1, []])
})

/** Operations by their keys, before and after. */
test.each<[string, Record<string, string>, Record<string, string>]>([
  ['renames one and gives its name to another', { 'get /a': 'list' }, { 'get /a': 'listAll', 'delete /b': 'list' }],
  ['gives a name to another method', { 'get /a': 'act' }, { 'delete /a': 'act' }],
  ['moves a path', { 'get /v1/a': 'list' }, { 'get /v2/a': 'list' }],
  ['swaps names', { 'get /a': 'read', 'delete /b': 'remove' }, { 'get /a': 'remove', 'delete /b': 'read' }],
])('a tool never becomes another operation where the source %s', async (_, before, after) => {
  const pathsOf = (given: Record<string, string>): JsonObject => {
    const paths: Record<string, JsonObject> = {}
    for (const [key, operationId] of Object.entries(given)) {
      const [method, path] = key.split(' ') as [string, string]
      paths[path] = { ...paths[path], [method]: { operationId } }
    }
    return paths
  }
  const operationsOf = (): [string, string][] => {
    const { operations } = JSON.parse(read('imports/petstore.json')) as {
      operations: Record<string, { method: string; path: string }>
    }
    return Object.entries(operations).map(([id, { method, path }]) => [id, `${method} ${path}`])
  }
  await importOf({ ...petstore(), paths: pathsOf(before) })
  const known = operationsOf()
  await importOf({ ...petstore(), paths: pathsOf(after) })
  const now = operationsOf()
  expect(now).toEqual(expect.arrayContaining(known))
  // Each operation has a tool.
  const wanted = Object.keys(after).map((key) => key.replace(/^\w+/, (method) => method.toUpperCase()))
  expect(wanted.filter((key) => !now.some(([, each]) => each === key))).toEqual([])
})

const HEAD = "openapi: 3.0.3\ninfo: { title: Bomb }\nservers: [{ url: 'https://a.example' }]\n"
const withSchema = (schema: string): string =>
  `paths: { /x: { post: { requestBody: { content: { application/json: { schema: ${schema} } } } } } }\n`
const BOMB = `a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from(
  { length: 9 },
  (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(10)}]\n`,
).join('')}`

test.each([
  [
    'aliases that repeat each other',
    `${HEAD}${BOMB}${withSchema('{ enum: [*a9] }')}`,
    'is larger than 5,000,000 values',
  ],
  ['an alias of what is around it', `${HEAD}${withSchema('&s { enum: [*s] }')}`, 'is nested deeper than 256 levels'],
  [
    'nested lists',
    `{"openapi":"3.0.0","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    'is nested deeper than 256 levels',
  ],
  ['bytes that are not UTF-8', Buffer.from('openapi: 3.0.0\ninfo: { title: caf\xe9 }\n', 'latin1'), 'is not UTF-8'],
  ['a number for its version', 'openapi: 3.1\n', 'is OpenAPI 3.1; texts such as "3.0.3" and "3.1.0" are imported'],
  [
    'a server with a variable without a default',
    "openapi: 3.0.0\nservers: [{ url: 'https://{region}.a.example' }]\npaths: { /x: { get: {} } }\n",
    'The server https://{region}.a.example has a variable without a default.',
  ],
])('a source with %s is refused with its reason, and nothing is written', async (_, text, why) => {
  writeFileSync(join(cwd, 'source.yaml'), text)
  const { code, stderr } = await svc(['import', 'openapi', 'source.yaml'], { cwd })
  expect([code, stderr.replaceAll(/\s+/g, ' ').includes(why) ? why : stderr]).toEqual([2, why])
  expect(readdirSync(cwd).toSorted()).toEqual(['source.yaml', 'svc.config.yaml'])
})

test('merge keys of YAML and numbers as defaults of variables are read', async () => {
  write(
    'source.yaml',
    `openapi: 3.0.3
info: { title: Shop }
servers: [{ url: 'https://a.example:{port}', variables: { port: { default: 8443 } } }]
x: &page { name: page, in: query, schema: { type: integer } }
paths: { /x: { get: { summary: Lists., parameters: [{ <<: *page, name: cursor }] } } }
`,
  )
  const { code } = await svc(['import', 'openapi', 'source.yaml'], { cwd })
  const { operations } = JSON.parse(read('imports/shop.json')) as { operations: Record<string, JsonObject> }
  expect([
    code,
    operations['shop.get_x']!['parameters'],
    read('svc.config.yaml').includes('https://a.example:8443'),
  ]).toEqual([0, [{ argument: 'cursor', name: 'cursor', in: 'query', style: 'form', explode: true }], true])
})

test.each(['header', 'query', 'cookie'])('no argument stands where the secret is sent: %s', async (place) => {
  const parameters = [
    { name: 'key', in: place, required: true, schema: { type: 'string' } },
    { name: 'other', in: place, schema: { type: 'string' } },
  ]
  const name = place === 'header' ? 'Key' : 'key'
  await importOf(
    withOperation({ operationId: 'act', parameters }, schemes({ type: 'apiKey', in: place, name }), 'get', '/a'),
  )
  const { operations } = JSON.parse(read('imports/petstore.json')) as {
    operations: Record<string, { parameters: { argument: string }[] }>
  }
  expect(operations['petstore.act']!.parameters.map(({ argument }) => argument)).toEqual(['other'])
})

test('a document with aliases stays as its author wrote it, and what the source changed is a question', async () => {
  const sourceOf = (most: number): JsonObject => {
    const parameters = ['q', 'r'].map((name) => ({
      name,
      in: 'query',
      schema: { type: 'string', maxLength: name === 'q' ? 5 : most },
    }))
    return withOperation({ operationId: 'act', parameters }, {}, 'get', '/a')
  }
  await importOf(sourceOf(5))
  const path = 'tools/petstore/act.yaml'
  const member = ':\n          type: string\n          maxLength: 5\n'
  write(
    path,
    read(path)
      .replace(`q${member}`, `q: &short${member.slice(1)}`)
      .replace(`r${member}`, 'r: *short\n'),
  )
  const own = read(path)
  const { code, ...ran } = await importOf(sourceOf(6), '--json')
  expect([code, answerOf({ code, ...ran }).questions, read(path), own.includes('r: *short')]).toEqual([
    0,
    [{ path, what: 'spec.input_schema.inline.properties.r.maxLength: the source says 6; yours stays' }],
    own,
    true,
  ])
})

const inHeader = { type: 'apiKey', in: 'header', name: 'X-Key' }
test.each<[string, JsonObject, number, string[]]>([
  ['nothing', schemes(inHeader), 0, []],
  [
    'where a secret is sent',
    schemes({ ...inHeader, in: 'query' }),
    3,
    ['authority security scheme key: its secret is sent otherwise than at the last import'],
  ],
  ['to no secret', { security: [] }, 3, ['authority GET /a/{id}: it needs other secrets than at the last import']],
  [
    'to a choice',
    { ...schemes(inHeader), security: [{ key: [] }, {}] },
    3,
    ['authority GET /a/{id}: it needs other secrets than at the last import'],
  ],
])('a source that changes %s is told once', async (_, changed, code, lost) => {
  await importOf(withOperation({}, schemes(inHeader)))
  const ran = await importOf(withOperation({}, changed), '--json')
  expect([ran.code, lostOf(ran)]).toEqual([code, lost])
  expect((await importOf(withOperation({}, changed))).code).toBe(0)
})

test('a name of the source is one line of the table, whatever it contains', async () => {
  const parameters = [{ name: 'x\n  authority  everything', in: 'header', schema: { type: 'string' } }]
  const { stdout } = await importOf(withOperation({ parameters }))
  expect(stdout.split('\n').filter((line) => line.includes('everything'))).toEqual([
    '    GET /a/{id}  the header parameter x authority everything cannot be sent and is left out',
  ])
})
