import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import { createRedactor } from '../../src/base/secret.ts'
import type { ProjectConfig } from '../../src/spec/project/config.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { agentWith, invocationOf, invoke, timeless, toolboxWith, toolNamed } from './invocation.ts'

const tool = toolNamed('acme.orders.refund')

describe('which route', () => {
  const config: ProjectConfig = {
    tools: {
      'acme.*': { mock: [{ result: 'namespace' }] },
      'acme.orders.*': { mock: [{ result: 'inner namespace' }] },
      'acme.orders.lookup': { mock: [{ result: 'exact' }] },
      'acme.served': { timeout: '5s' },
    },
  }
  test.each([
    ['acme.orders.lookup', 'exact'],
    ['acme.orders.refund', 'inner namespace'],
    ['acme.ledger', 'namespace'],
  ])('%s is answered by the %s entry', async (id, result) => {
    expect(await invoke(config, toolNamed(id), {})).toEqual({ at: 'returned', isError: false, result })
  })

  test.each(['other.tool', 'acme', 'acmeorders.lookup', 'svc.ask_user', 'svc.read_file', 'toString'])(
    'nothing handles %s',
    (id) => {
      expect(toolboxWith(config).route(agentWith(), toolNamed(id))).toBeUndefined()
    },
  )

  test('the manifest decides first, and the time may still be configured', () => {
    const route = toolboxWith(config).route(agentWith(), toolNamed('acme.served', { mcp: { server: 's', tool: 't' } }))
    expect([route?.route, route?.timeoutMs]).toEqual(['mcp', 5000])
  })

  test('a call is not sent after its time', async () => {
    const route = toolboxWith(config).route(agentWith(), tool)!
    expect(await route.invoke(invocationOf(tool, {}, { notAfter: 1 }), new AbortController().signal)).toEqual({
      at: 'not_sent',
      code: 'refused',
      error: 'The time for this call had passed before it was sent.',
    })
  })
})

describe('mock', () => {
  const config: ProjectConfig = {
    tools: {
      'acme.orders.refund': {
        mock: [
          { when: { order: 'A-1', buyer: { tier: 'gold' } }, result: { refunded: 1 } },
          { when: { order: 'A-2' }, error: 'No such order.' },
          { when: { order: 'A-3' } },
        ],
      },
    },
  }
  test.each([
    [
      { order: 'A-1', buyer: { tier: 'gold', id: 7 }, amount: 1 },
      { at: 'returned', isError: false, result: { refunded: 1 } },
    ],
    [{ order: 'A-2' }, { at: 'returned', isError: true, result: 'No such order.' }],
    [{ order: 'A-3' }, { at: 'returned', isError: false, result: null }],
    [
      { order: 'A-1' },
      { at: 'returned', isError: true, result: 'No canned result of acme.orders.refund matches these arguments.' },
    ],
  ])('%j', async (args, outcome) => {
    expect(await invoke(config, tool, args)).toEqual(outcome)
  })
})

describe('http', () => {
  let server: Server | undefined
  afterEach(async () => {
    if (server) await stop(server)
    server = undefined
  })
  const seen: { headers: IncomingMessage['headers']; method: string | undefined; body: string }[] = []
  const serve = async (answer: (response: ServerResponse) => void): Promise<string> => {
    seen.length = 0
    server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        seen.push({ headers: request.headers, method: request.method, body })
        answer(response)
      })
    })
    return listen(server)
  }
  const at = (url: string, headers: Record<string, string> = {}, timeout = '30s'): ProjectConfig => ({
    tools: { 'acme.orders.*': { http: { url, headers }, timeout } },
  })

  test('posts the call with its key and answers the body', async () => {
    const url = await serve((response) => response.end('{"refunded":180}'))
    const redactor = createRedactor()
    const config = at(`${url}/refund`, { authorization: 'Bearer ${ERP_TOKEN}' })
    expect(await invoke(config, tool, { order: 'A-1' }, { env: { ERP_TOKEN: 'erp-token-1' }, redactor })).toEqual({
      at: 'returned',
      isError: false,
      result: { refunded: 180 },
    })
    expect(seen[0]?.method).toBe('POST')
    expect(seen[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'svc:run-1:2:0',
      'svc-not-after': '2999-01-01T00:00:00.000Z',
      authorization: 'Bearer erp-token-1',
    })
    expect(JSON.parse(seen[0]!.body)).toEqual({
      tool: 'acme.orders.refund',
      arguments: { order: 'A-1' },
      idempotency_key: 'svc:run-1:2:0',
      run: {
        id: 'run-1',
        session_id: 'session-1',
        agent: 'acme.desk',
        version: '1.2.0',
        tool_call_id: 'call_2_1',
        attempt: 1,
      },
    })
    expect(redactor.text('token erp-token-1')).toBe('token ***')
  })

  test.each<[string, (response: ServerResponse) => void, object]>([
    [
      'an error with a body',
      (r) => r.writeHead(422).end('no such order'),
      { at: 'returned', isError: true, result: 'HTTP 422: no such order', notExecuted: true },
    ],
    [
      'an error without one',
      (r) => r.writeHead(401).end(),
      { at: 'returned', isError: true, result: 'HTTP 401', notExecuted: true },
    ],
    [
      'an error that says that nothing was done',
      (r) => r.writeHead(503).end('{"error":"closed","not_executed":true}'),
      {
        at: 'returned',
        isError: true,
        result: 'HTTP 503: {"error":"closed","not_executed":true}',
        notExecuted: true,
      },
    ],
    [
      'an error of the server',
      (r) => r.writeHead(500).end('{"error":"db"}'),
      { at: 'returned', isError: true, result: 'HTTP 500: {"error":"db"}' },
    ],
    [
      'a redirect',
      (r) => r.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      {
        at: 'returned',
        isError: true,
        result: 'HTTP 307 (a redirect to http://169.254.169.254/, which is not followed)',
      },
    ],
    ['nothing', (r) => r.writeHead(204).end(), { at: 'returned', isError: false, result: null }],
    [
      'text',
      (r) => r.end('done'),
      { at: 'returned', isError: true, result: 'The call was executed, but its output is not JSON: done' },
    ],
    [
      'a number that would be changed',
      (r) => r.end('{"id": 9007199254740993}'),
      {
        at: 'returned',
        isError: true,
        result:
          'The call was executed, but its output is refused: the number 9007199254740993 at /id cannot be kept exactly: numbers have at most 17 digits and go to 9007199254740991; write it as text. It wrote: {"id": 9007199254740993}',
      },
    ],
    ...[257, 200_000].map((levels): [string, (response: ServerResponse) => void, object] => [
      `${levels} levels`,
      (r) => r.end(`${'['.repeat(levels)}${']'.repeat(levels)}`),
      {
        at: 'returned',
        isError: true,
        result: 'The call was executed, but its output is nested deeper than 256 levels.',
      },
    ]),
    [
      'too much',
      (r) => r.end(JSON.stringify('x'.repeat(1024 * 1024))),
      {
        at: 'returned',
        isError: false,
        result: `"${'x'.repeat(1024 * 1024 - 1)}\n[cut: the output is longer than 1048576 bytes]`,
      },
    ],
  ])('%s', async (_, answer, outcome) => {
    expect(await invoke(at(await serve(answer)), tool, {})).toEqual(outcome)
  })

  test.each([
    [429, 'non_idempotent_write', { at: 'not_sent', code: 'unreachable', retryAfterMs: 30_000 }],
    [429, 'read_only', { at: 'not_sent', code: 'unreachable', retryAfterMs: 30_000 }],
    [503, 'read_only', { at: 'unknown', code: 'broken', retryAfterMs: 30_000 }],
    [502, 'idempotent_write', { at: 'unknown', code: 'broken' }],
    [503, 'non_idempotent_write', { at: 'returned', isError: true, result: 'HTTP 503: busy' }],
    [503, 'irreversible_action', { at: 'returned', isError: true, result: 'HTTP 503: busy' }],
  ] as const)('%i of a tool of class %s says whether it is called again', async (status, sideEffectClass, outcome) => {
    const url = await serve((response) => response.writeHead(status, { 'retry-after': '30' }).end('busy'))
    expect(await invoke(at(url), { ...tool, sideEffectClass }, {})).toMatchObject(outcome)
  })

  test('a connection cut before or in the middle of the answer: it may have happened', async () => {
    const cut = await invoke(at(await serve((response) => response.destroy())), tool, {})
    expect(cut).toMatchObject({ at: 'unknown', code: 'broken' })
    await stop(server!)
    const half = await invoke(
      at(
        await serve((response) => {
          response.writeHead(200, { 'content-length': '100' })
          response.write('{"refun', () => response.destroy())
        }),
      ),
      tool,
      {},
    )
    expect(half).toMatchObject({ at: 'unknown', code: 'broken' })
    expect(seen).toHaveLength(1)
  })

  test('no answer in time: it may have happened', async () => {
    const url = await serve(() => {})
    expect(await invoke(at(url, {}, '300ms'), tool, {})).toEqual({
      at: 'unknown',
      code: 'timeout',
      error: `${new URL(url).host} did not answer within 300 ms.`,
    })
  })

  test.each([
    ['nobody listens', 'http://127.0.0.1:1/', /^127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED/],
    ['the name is unknown', 'http://no-such-host.invalid/', /^no-such-host\.invalid cannot be reached: getaddrinfo/],
  ])('%s: nothing happened', async (_, url, error) => {
    expect(await invoke(at(url), tool, {})).toEqual({
      at: 'not_sent',
      code: 'unreachable',
      error: expect.stringMatching(error),
    })
  })

  test('no TLS on the other side: nothing happened', async () => {
    const url = await serve((response) => response.end())
    expect(await invoke(at(url.replace('http:', 'https:')), tool, {})).toMatchObject({
      at: 'not_sent',
      code: 'unreachable',
    })
    expect(seen).toEqual([])
  })

  test('a header whose variable is not set: nothing is sent', async () => {
    const url = await serve((response) => response.end())
    expect(await invoke(at(url, { authorization: 'Bearer ${ERP_TOKEN}' }), tool, {})).toEqual({
      at: 'not_sent',
      code: 'secret_missing',
      error: 'A header of acme.orders.refund needs the environment variable ERP_TOKEN.',
    })
    expect(seen).toEqual([])
  })
})

test.each([
  ['a mock', () => toolboxWith({ tools: { 'acme.slow': { mock: [{ delay: '10m' }], timeout: '20ms' } } })],
  ['a command', () => toolboxWith({ tools: { 'acme.slow': { command: ['sleep', '600'], timeout: '20ms' } } })],
])('%s that takes too long has an unknown outcome', async (_, open) => {
  const slow = toolNamed('acme.slow')
  const outcome = await open().route(agentWith(), slow)!.invoke(invocationOf(slow, {}), new AbortController().signal)
  expect(outcome).toMatchObject({ at: 'unknown', code: 'timeout' })
})

describe('svc.read_file', () => {
  const files: Record<string, Uint8Array> = {
    'notes.txt': Buffer.from('Größe: 42\n'),
    'photo.png': new Uint8Array([0x89, 0x50, 0, 0xff]),
    'long.txt': Buffer.from('x'.repeat(70_000)),
    'faces.txt': Buffer.from('a😀😀b😀'),
  }
  const read = async (args: object): Promise<object> => {
    const builtin = toolNamed('svc.read_file', { builtin: true })
    const toolbox = toolboxWith(
      {},
      {
        readFile: async (sessionId, filename) =>
          sessionId === 'session-1' && Object.hasOwn(files, filename)
            ? { mediaType: 'text/plain', bytes: files[filename]! }
            : undefined,
      },
    )
    return timeless(
      await toolbox
        .route(agentWith(), builtin)!
        .invoke(invocationOf(builtin, { ...args }), new AbortController().signal),
    )
  }
  test.each([
    [
      { filename: 'notes.txt' },
      { filename: 'notes.txt', mediaType: 'text/plain', text: 'Größe: 42\n', offset: 0, totalCharacters: 10 },
    ],
    [
      { filename: 'notes.txt', offset: 2, length: 3 },
      { filename: 'notes.txt', mediaType: 'text/plain', text: 'öße', offset: 2, totalCharacters: 10, nextOffset: 5 },
    ],
    [
      { filename: 'notes.txt', offset: 99 },
      { filename: 'notes.txt', mediaType: 'text/plain', text: '', offset: 10, totalCharacters: 10 },
    ],
  ])('%j', async (args, result) => {
    expect(await read(args)).toEqual({ at: 'returned', isError: false, result })
  })
  test('a long file comes in pages', async () => {
    expect(await read({ filename: 'long.txt' })).toMatchObject({
      result: { totalCharacters: 70_000, nextOffset: 65_536 },
    })
  })
  test.each([1, 2, 3, 5])('pages of %i characters split no pair, and together are the text', async (length) => {
    const pages: string[] = []
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const { result } = (await read({ filename: 'faces.txt', offset, length })) as {
        result: { text: string; nextOffset?: number }
      }
      pages.push(result.text)
      offset = result.nextOffset
    }
    expect(pages.every((page) => page.isWellFormed())).toBe(true)
    expect(pages.join('')).toBe('a😀😀b😀')
  })

  test.each([
    [{ filename: 'photo.png' }, 'photo.png (text/plain, 4 bytes) is not text.'],
    [{ filename: 'other.txt' }, 'This session has no file named other.txt.'],
    [{}, 'svc.read_file needs a filename.'],
  ])('%j is an error', async (args, result) => {
    expect(await read(args)).toEqual({ at: 'returned', isError: true, result })
  })

  test('is made again where the storage of files is away', async () => {
    const away = fail('bucket_unusable', { bucket: 's3://files', why: 'to get an object failed (SlowDown)' })
    const toolbox = toolboxWith({}, { readFile: () => Promise.reject(away) })
    const builtin = toolNamed('svc.read_file', { builtin: true })
    const call = invocationOf(builtin, { filename: 'notes.txt' })
    const outcome = await toolbox.route(agentWith(), builtin)!.invoke(call, new AbortController().signal)
    expect(outcome).toEqual({ at: 'not_sent', code: 'unreachable', error: away.message })
  })
})

test('a route says the bound that the project file sets for its tool', () => {
  const bounded = { mock: [], concurrency: 3 }
  const toolbox = toolboxWith({ tools: { 'acme.orders.*': bounded, 'acme.free': { mock: [] } } })
  const boundOf = (id: string) => toolbox.route(agentWith({}), toolNamed(id))?.concurrency
  expect([boundOf('acme.orders.refund'), boundOf('acme.free')]).toEqual([3, undefined])
})

test('a time alone is no route for a tool that no MCP server has', () => {
  const only = toolboxWith({ tools: { 'acme.slow': { timeout: '5s' } } })
  expect(only.route(agentWith(), toolNamed('acme.slow'))).toBeUndefined()
})
