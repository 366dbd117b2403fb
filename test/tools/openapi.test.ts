import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import type { OperationRecord, RecordedOperation } from '../../src/spec/project/operation-record.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { invoke, toolNamed, toolboxWith, agentWith } from './invocation.ts'

interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let server: Server
let url: string
let seen: SeenRequest[] = []
let answer: { status: number; type?: string; body: string } = { status: 200, body: '{"ok":true}' }
const directory = mkdtempSync(join(tmpdir(), 'svc-openapi-'))

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      seen.push({ method: request.method!, url: request.url!, headers: request.headers, body })
      const { status, type = 'application/json', body: text } = answer
      response.writeHead(status, { 'content-type': type }).end(text)
    })
  })
  url = `${await listen(server)}/base`
})
afterAll(() => stop(server))
beforeEach(() => {
  seen = []
  answer = { status: 200, body: '{"ok":true}' }
})

const at = (name: string, place: 'path' | 'query' | 'header' | 'cookie', more: object = {}) =>
  ({
    argument: name,
    name,
    in: place,
    style: place === 'query' || place === 'cookie' ? 'form' : 'simple',
    explode: place === 'query',
    ...more,
  }) as const

const operations: Record<string, RecordedOperation> = {
  'pets.update': {
    method: 'PATCH',
    path: '/pets/{id}',
    parameters: [
      at('id', 'path'),
      at('tags', 'query'),
      at('filter', 'query', { style: 'deepObject' }),
      at('trace', 'header', { name: 'X-Trace' }),
      at('theme', 'cookie'),
    ],
    body: { argument: 'body', mediaType: 'application/merge-patch+json' },
    security: [['key', 'app'], ['token']],
  },
  'pets.charge': {
    method: 'POST',
    path: '/charges',
    parameters: [],
    body: {
      argument: 'body',
      mediaType: 'application/x-www-form-urlencoded',
      fields: { card: { style: 'deepObject', explode: true } },
    },
    security: [['login']],
  },
  'pets.list': { method: 'GET', path: '/pets', parameters: [at('limit', 'query')], security: [[], ['token']] },
  'pets.search': { method: 'GET', path: '/search', parameters: [], security: [['query']] },
  'pets.session': { method: 'GET', path: '/session', parameters: [at('theme', 'cookie')], security: [['cookie']] },
}
const record: OperationRecord = {
  svcImport: 1,
  source: 'pets.yaml',
  securitySchemes: {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    app: { type: 'apiKey', in: 'query', name: 'app' },
    query: { type: 'apiKey', in: 'query', name: 'api_key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    token: { type: 'bearer' },
    login: { type: 'basic' },
  },
  operations,
  written: {},
}
mkdirSync(join(directory, 'imports'))
writeFileSync(join(directory, 'imports/pets.json'), JSON.stringify(record))

const NAMES = ['key', 'app', 'query', 'cookie', 'token', 'login']
const call = (id: string, args: JsonValue, env: Record<string, string> = {}, more: object = {}) =>
  invoke(
    {
      tools: {
        'pets.*': {
          openapi: {
            url,
            record: 'imports/pets.json',
            security: Object.fromEntries(NAMES.map((name) => [name, { fromEnv: `PETS_${name.toUpperCase()}` }])),
            ...more,
          },
        },
      },
    },
    toolNamed(id),
    args,
    { configDir: directory, env },
  )

test('an operation is sent with its path, query, headers, cookies, body and secrets', async () => {
  const args = { id: 'a/b', tags: ['x', 'y z'], filter: { age: 3 }, trace: 't1', theme: 'dark', body: { name: 'Rex' } }
  expect(
    await call('pets.update', args, { PETS_KEY: 'k-1', PETS_APP: 'a&1' }, { headers: { 'X-Team': 'vets' } }),
  ).toEqual({
    at: 'returned',
    isError: false,
    result: { ok: true },
  })
  const { headers, ...request } = seen[0]!
  expect(request).toEqual({
    method: 'PATCH',
    url: '/base/pets/a%2Fb?tags=x&tags=y%20z&filter%5Bage%5D=3&app=a%261',
    body: '{"name":"Rex"}',
  })
  const { host: _, 'user-agent': __, connection: ___, ...own } = headers
  expect(own).toEqual({
    accept: 'application/json, text/*;q=0.8, */*;q=0.1',
    'accept-encoding': 'identity',
    'content-length': '14',
    'content-type': 'application/merge-patch+json',
    cookie: 'theme=dark',
    'idempotency-key': 'svc:run-1:2:0',
    'x-key': 'k-1',
    'x-team': 'vets',
    'x-trace': 't1',
  })
})

test('a form is written by its encoding', async () => {
  const body = { amount: 5, card: { number: '4 2', exp: [1, 2] }, tags: ['a', 'b'], meta: { k: 'v' } }
  await call('pets.charge', { body }, { PETS_LOGIN: 'ada:pa ss' })
  expect([seen[0]!.body, seen[0]!.headers['content-type'], seen[0]!.headers.authorization]).toEqual([
    'amount=5&card%5Bnumber%5D=4+2&card%5Bexp%5D%5B0%5D=1&card%5Bexp%5D%5B1%5D=2&tags=a&tags=b&meta=%7B%22k%22%3A%22v%22%7D',
    'application/x-www-form-urlencoded',
    `Basic ${Buffer.from('ada:pa ss').toString('base64')}`,
  ])
})

test.each([
  [
    'the first alternative that is whole',
    'pets.update',
    { id: '1', body: {} },
    { PETS_APP: 'a', PETS_TOKEN: 't' },
    ['/base/pets/1', 'Bearer t', undefined],
  ],
  ['a secret although none is needed', 'pets.list', {}, { PETS_TOKEN: 't' }, ['/base/pets', 'Bearer t', undefined]],
  ['no secret where none is needed', 'pets.list', { limit: 2 }, {}, ['/base/pets?limit=2', undefined, undefined]],
  [
    'a key in the query',
    'pets.search',
    {},
    { PETS_QUERY: 'q&k' },
    ['/base/search?api_key=q%26k', undefined, undefined],
  ],
  [
    'a key in a cookie',
    'pets.session',
    { theme: 'a;b' },
    { PETS_COOKIE: 's' },
    ['/base/session', undefined, 'theme=a%3Bb; sid=s'],
  ],
  [
    'a key in a cookie, as it was given',
    'pets.session',
    {},
    { PETS_COOKIE: "a+/b==.%41!#$&'()*:<>?@[]^`{|}~-_" },
    ['/base/session', undefined, "sid=a+/b==.%41!#$&'()*:<>?@[]^`{|}~-_"],
  ],
  [
    'a key that would end its cookie',
    'pets.session',
    {},
    { PETS_COOKIE: 's; admin="1",\\' },
    ['/base/session', undefined, 'sid=s%3B%20admin=%221%22%2C%5C'],
  ],
])('security: %s', async (_, id, args, env, expected) => {
  await call(id, args, env as Record<string, string>)
  expect([seen[0]!.url, seen[0]!.headers.authorization, seen[0]!.headers.cookie]).toEqual(expected)
})

test('without its secret nothing is sent', async () => {
  expect(await call('pets.search', {})).toEqual({
    at: 'not_sent',
    code: 'secret_missing',
    error: 'A request of pets.search needs the environment variable PETS_QUERY.',
  })
  expect(await call('pets.search', {}, { PETS_QUERY: 'q' }, { security: {} })).toEqual({
    at: 'not_sent',
    code: 'secret_missing',
    error: 'A request of pets.search needs the secret of "query", which `openapi.security` does not name.',
  })
  expect(seen).toEqual([])
})

test('an answer that repeats a secret is redacted in what is kept of it', async () => {
  const redactor = createRedactor()
  answer = { status: 401, body: 'no account for ada:hunter22' }
  const config = {
    tools: { 'pets.*': { openapi: { url, record: 'imports/pets.json', security: { login: { fromEnv: 'LOGIN' } } } } },
  }
  const toolbox = toolboxWith(config, { configDir: directory, env: { LOGIN: 'ada:hunter22' }, redactor })
  expect(toolbox.route(agentWith(), toolNamed('pets.charge'))!.route).toBe('openapi')
  const outcome = await invoke(
    config,
    toolNamed('pets.charge'),
    { body: {} },
    { configDir: directory, env: { LOGIN: 'ada:hunter22' }, redactor },
  )
  expect(JSON.stringify(outcome)).not.toContain('hunter22')
  expect(redactor.text('the password hunter22')).not.toContain('hunter22')
})

test.each([
  [200, 'application/problem+json; charset=utf-8', '{"a":1}', { at: 'returned', isError: false, result: { a: 1 } }],
  [200, 'text/csv', 'a,b', { at: 'returned', isError: false, result: 'a,b' }],
  [200, 'image/png', 'xyz', { at: 'returned', isError: false, result: '[3 bytes of image/png]' }],
  [204, 'application/json', '', { at: 'returned', isError: false, result: null }],
  [
    404,
    'application/json',
    '{"m":"gone"}',
    { at: 'returned', isError: true, notExecuted: true, result: 'HTTP 404: {"m":"gone"}' },
  ],
  [409, 'application/json', '', { at: 'returned', isError: true, result: 'HTTP 409' }],
  [500, 'text/plain', 'oops', { at: 'returned', isError: true, result: 'HTTP 500: oops' }],
])('status %i of %s is the outcome of the call', async (status, type, body, expected) => {
  answer = { status, type, body }
  expect(await call('pets.charge', { body: {} }, { PETS_LOGIN: 'a:b' })).toEqual(expected)
})

test.each([
  ['http://169.254.169.254/latest', '169.254.169.254'],
  ['http://api.example', 'is not https'],
  ['https://10.0.0.8', 'is a private address'],
])('the address %s is held to the rules for addresses of documents', async (address, why) => {
  const outcome = await call('pets.list', {}, {}, { url: address })
  expect(outcome).toMatchObject({ at: 'not_sent', code: 'refused' })
  expect((outcome as { error: string }).error).toContain(why)
})

test.each([
  ['imports/none.json', undefined, 'ENOENT'],
  ['imports/other.json', '{"a":1}', 'it is no record of an import'],
  [
    'imports/escape.json',
    JSON.stringify({ ...record, operations: { 'pets.list': { method: 'GET', path: '/a?x=1', parameters: [] } } }),
    'it is no record of an import',
  ],
])('a record %s that cannot be used is no handler', async (path, text, why) => {
  if (text !== undefined) writeFileSync(join(directory, path), text)
  const outcome = await call('pets.list', {}, {}, { record: path })
  expect(outcome).toMatchObject({ at: 'not_sent', code: 'no_handler' })
  expect((outcome as { error: string }).error).toContain(why)
})

test('a tool that the record does not have is no handler', async () => {
  expect(await call('pets.buy', {})).toEqual({
    at: 'not_sent',
    code: 'no_handler',
    error: 'imports/pets.json has no operation for pets.buy.',
  })
})
