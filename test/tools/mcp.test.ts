import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { McpServer } from '../../src/spec/document.ts'
import type { ToolInvocation, Toolbox } from '../../src/tools/tool.ts'
import { startFakeMcp, type Era, type FakeMcp, type FakeTool } from '../fakes/mcp.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

const lookup: FakeTool = {
  name: 'lookup',
  description: 'Finds an order.\u202e\u0007\nBy its id.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  // The client of the SDK would refuse what does not fit; ours is the engine's to check.
  outputSchema: { type: 'object', properties: { status: { type: 'number' } } },
  answer: (args) => ({ content: [{ type: 'text', text: 'as text' }], structuredContent: { status: 'lost', ...args } }),
}
const toolSaying = (...texts: string[]): FakeTool => ({
  name: 'say',
  answer: () => ({ content: texts.map((text) => ({ type: 'text', text })) }),
})

let fake: FakeMcp
let toolbox: Toolbox
const start = async (era: Era, tools: readonly FakeTool[] = [lookup]): Promise<void> => {
  fake = await startFakeMcp(era, tools)
}
beforeEach(() => void (toolbox = toolboxWith({}, { redactor: createRedactor() })))
afterEach(async () => {
  await toolbox.close()
  await fake.close()
})

const call = async (
  name = 'lookup',
  args: JsonObject = { order: 'A-1' },
  {
    server = {},
    invocation = {},
    signal = new AbortController().signal,
  }: { server?: Partial<McpServer>; invocation?: Partial<ToolInvocation>; signal?: AbortSignal } = {},
): Promise<object> => {
  const tool = toolNamed(`acme.${name}`, { mcp: { server: 'orders', tool: name } })
  const agent = agentWith({
    mcpServers: [{ name: 'orders', url: fake.url, ...server }],
    secrets: { token: { fromEnv: 'ORDERS_TOKEN' } },
  })
  return timeless(await toolbox.route(agent, tool)!.invoke(invocationOf(tool, args, invocation), signal))
}
const countRequests = (rpc: string): number => fake.requests.filter((each) => each.rpc === rpc).length

describe.each<Era>(['modern', 'stateless', 'sessions'])('a server of the kind %s', (era) => {
  beforeEach(() => start(era))

  test('is no outage where its list of tools is larger than svc reads: waiting would not help', async () => {
    await fake.close()
    await start(era, [{ ...lookup, description: 'x'.repeat(600 * 1024) }])
    expect(await call()).toEqual({
      at: 'not_sent',
      code: 'refused',
      error:
        'MCP server "orders" has no tool "lookup". Its list of tools is longer than 524288 bytes; svc reads the first 0 tools.',
    })
  })

  test('answers a call whose arguments look like a request for tools with as much as any call', async () => {
    await fake.close()
    await start(era, [toolSaying('x'.repeat(900 * 1024))])
    expect(await call('say', { method: 'tools/list' })).toEqual({
      at: 'returned',
      isError: false,
      result: 'x'.repeat(900 * 1024),
    })
  })

  test('answers with its structured content', async () => {
    expect(await call()).toEqual({ at: 'returned', isError: false, result: { status: 'lost', order: 'A-1' } })
  })

  test('was called when its structured content is nested too deep to be kept', async () => {
    const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) })
    await fake.close()
    await start(era, [{ ...lookup, answer: () => ({ content: [], structuredContent: nested(1500) }) }])
    expect(await call()).toEqual({
      at: 'returned',
      isError: true,
      result: expect.stringMatching(
        /^The call was executed, but the answer of MCP server "orders" is nested deeper than 256 levels: \{/,
      ) as string,
    })
  })

  test.each<[string, object, JsonValue]>([
    ['structured content', { structuredContent: { id: 2 ** 53, x: 1 } }, { id: '9007199254740992', x: 1 }],
    ['text', { content: [{ type: 'text', text: '{"id": 9007199254740993}' }] }, '{"id": 9007199254740993}'],
  ])('answers with all digits of a number that would be changed, in %s', async (_, answer, result) => {
    await fake.close()
    await start(era, [{ name: 'say', answer: () => ({ content: [], ...answer }) }])
    expect(await call('say', {})).toEqual({ at: 'returned', isError: false, result })
  })

  test('gets the key of the call', async () => {
    await call()
    const sent = fake.requests.find((each) => each.rpc === 'tools/call')
    expect(sent?.headers['idempotency-key']).toBe('svc:run-1:2:0')
    expect(sent?.headers['svc-not-after']).toBe('2999-01-01T00:00:00.000Z')
    expect(sent?.meta).toMatchObject({ 'svc/idempotencyKey': 'svc:run-1:2:0' })
  })

  test('is connected to once, and lists its tools once a run', async () => {
    for (const id of ['run-1', 'run-1', 'run-2'])
      await call('lookup', { order: 'A-1' }, { invocation: { run: { ...invocationOf(toolNamed('x'), {}).run, id } } })
    expect([countRequests('tools/list'), countRequests('tools/call')]).toEqual([2, 3])
    expect(countRequests('initialize')).toBeLessThanOrEqual(1)
  })

  test('a tool it does not have has no handler', async () => {
    expect(await call('refund')).toEqual({
      at: 'not_sent',
      code: 'no_handler',
      error: 'MCP server "orders" has no tool "refund".',
    })
    expect(countRequests('tools/call')).toBe(0)
  })

  test('a connection that breaks during the call leaves its outcome unknown', async () => {
    fake.intercept = (rpc, _, response) => rpc === 'tools/call' && Boolean(response.destroy())
    expect(await call()).toMatchObject({ at: 'unknown', code: 'broken' })
    expect(countRequests('tools/call')).toBe(1)
  })

  test('an answer that breaks off leaves its outcome unknown', async () => {
    fake.intercept = (rpc, _, response) => {
      if (rpc !== 'tools/call') return false
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': half\n\n', () => response.destroy())
      return true
    }
    expect(await call()).toMatchObject({ at: 'unknown', code: 'broken' })
    expect(countRequests('tools/call')).toBe(1)
  })

  test('a server that went away was not called', async () => {
    await call()
    const { port } = new URL(fake.url)
    await fake.close()
    expect(await call()).toMatchObject({
      at: 'not_sent',
      code: 'unreachable',
      error: `MCP server "orders" cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`,
    })
  })

  test('describes a tool without the characters that people do not see', async () => {
    const tool = toolNamed('acme.lookup', { mcp: { server: 'orders', tool: 'lookup' } })
    const agent = agentWith({ mcpServers: [{ name: 'orders', url: fake.url }] })
    expect(await toolbox.describe(agent, tool, new AbortController().signal)).toEqual({
      description: 'Finds an order.\nBy its id.',
      schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    })
    expect(
      await toolbox.describe(agent, { ...tool, mcp: { server: 'orders', tool: 'none' } }, new AbortController().signal),
    ).toBeUndefined()
  })
})

test.each([
  ['a value', { ORDERS_TOKEN: 's3' }, false, 'orders', undefined],
  ['no value', {}, false, 'orders', { secret: 'token', env: 'ORDERS_TOKEN' }],
  ['no value, offline', {}, true, 'orders', undefined],
  ['no value, of a server that no tool uses', {}, false, 'other', undefined],
])('a secret with %s', async (_, env, offline, server, unset) => {
  await start('modern')
  const auth = { scheme: 'bearer', secret: 'token' } as const
  const agent = agentWith({
    tools: [toolNamed('acme.lookup', { mcp: { server, tool: 'lookup' } })],
    mcpServers: [
      { name: 'orders', url: fake.url, auth },
      { name: 'other', url: fake.url },
    ],
    secrets: { token: { fromEnv: 'ORDERS_TOKEN' } },
  })
  expect(toolboxWith({}, { env, offline }).findUnsetSecret(agent)).toEqual(unset)
})

test('a session that the server has forgotten is begun again, and the call is made once', async () => {
  await start('sessions')
  await call()
  fake.forget()
  expect(await call()).toEqual({ at: 'returned', isError: false, result: { status: 'lost', order: 'A-1' } })
  expect(countRequests('initialize')).toBe(2)
})

test.each([
  ['text', toolSaying('refunded'), { isError: false, result: 'refunded' }],
  ['text that is JSON', toolSaying('{"refunded":180}'), { isError: false, result: { refunded: 180 } }],
  ['text that only begins like JSON', toolSaying('[note] done'), { isError: false, result: '[note] done' }],
  ['several texts', toolSaying('one', 'two'), { isError: false, result: 'one\ntwo' }],
  [
    'an image beside text',
    {
      name: 'say',
      answer: () => ({
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: 'AQID', mimeType: 'image/png' },
        ],
      }),
    },
    {
      isError: false,
      result: 'a\n[image: image/png, 3 bytes, not shown, because its bytes are no image, sound or PDF that svc knows]',
    },
  ],
  [
    'an error of the tool',
    { name: 'say', answer: () => ({ isError: true, content: [{ type: 'text', text: 'No such order.' }] }) },
    { isError: true, result: 'No such order.' },
  ],
  [
    'too much',
    toolSaying('x'.repeat(1024 * 1024 + 1)),
    { isError: false, result: `${'x'.repeat(1024 * 1024)}\n[cut: the output is longer than 1048576 bytes]` },
  ],
])('a result of %s', async (_, tool, outcome) => {
  await start('stateless', [tool])
  expect(await call('say', {})).toEqual({ at: 'returned', ...outcome })
})

test('an error of the protocol is the answer to the call', async () => {
  await start('modern', [
    {
      name: 'say',
      answer: () => {
        throw Object.assign(new Error('No ledger is open.'), { code: -32603 })
      },
    },
  ])
  expect(await call('say', {})).toEqual({ at: 'returned', isError: true, result: 'No ledger is open.' })
})

test.each([
  [403, {}],
  [429, { code: 'unreachable', retryAfterMs: 90_000 }],
])('HTTP %i comes before the call runs: nothing happened', async (status, expected) => {
  await start('stateless')
  const headers = { 'retry-after': '90' }
  fake.intercept = (rpc, _, response) => rpc === 'tools/call' && Boolean(response.writeHead(status, headers).end('no'))
  expect(await call()).toMatchObject({
    at: 'not_sent',
    code: 'refused',
    error: expect.stringMatching(`^MCP server "orders" answered ${status}: `),
    ...expected,
  })
})

test.each([
  ['tools/call', 'scope="orders:write"', 'The token lacks the scope "orders:write" (auth.scope). no'],
  ['initialize', 'error_description="x"', 'The token lacks the scope (auth.scope). no'],
])(
  'a token that lacks a scope is refused by %s before the call runs, and the scope is named',
  async (at, more, why) => {
    await start('stateless')
    const headers = { 'www-authenticate': `Bearer error="insufficient_scope", ${more}` }
    fake.intercept = (rpc, _, response) =>
      (rpc === at || (at === 'initialize' && rpc === 'server/discover')) &&
      Boolean(response.writeHead(403, headers).end('no'))
    expect(await call()).toEqual({
      at: 'not_sent',
      code: 'refused',
      error: `MCP server "orders" answered 403: ${why}`,
    })
  },
)

test.each([401, 403, 404, 410])('HTTP %i whose text never ends says what its status says', async (status) => {
  await start('stateless')
  fake.intercept = (rpc, _, response) => {
    if (rpc !== 'tools/call') return false
    response.writeHead(status).write('x')
    return true
  }
  expect(await call()).toMatchObject({ at: 'not_sent', error: expect.stringContaining(`answered ${status}`) })
})

test.each([502, 504, 408, 499])('HTTP %i may come after the call ran', async (status) => {
  await start('stateless')
  fake.intercept = (rpc, _, response) => rpc === 'tools/call' && Boolean(response.writeHead(status).end('late'))
  expect(await call()).toEqual({
    at: 'unknown',
    code: 'broken',
    error: `MCP server "orders" answered ${status}, which does not say whether the call was made: late`,
  })
})

test('no answer in time leaves the outcome unknown; no answer to the greeting means nothing happened', async () => {
  await start('stateless')
  toolbox = toolboxWith({ tools: { 'acme.*': { timeout: '1s' } } })
  await call()
  fake.intercept = (rpc) => rpc === 'tools/call'
  expect(await call()).toEqual({
    at: 'unknown',
    code: 'timeout',
    error: 'MCP server "orders" did not answer within 1000 ms.',
  })
  fake.intercept = () => true
  expect(
    await call(
      'lookup',
      {},
      {
        server: { url: `${fake.url}?other`, name: 'orders' },
        invocation: { run: { id: 'run-9', sessionId: 's', agent: 'a', version: '1' } },
      },
    ),
  ).toMatchObject({
    at: 'not_sent',
    code: 'unreachable',
  })
})

describe.each(['initialize', 'server/discover', 'tools/list', 'tools/call'])(
  'an answer to %s that never ends',
  (endless) => {
    test.each([
      ['says nothing', ': x\n\n'],
      ['tells of progress', progress({ progressToken: 0, progress: 1 })],
      ['tells of other things', `id: 7\n${progress({ level: 'info', data: 'x' })}`],
    ])('and %s is cut at the time of the call', async (_, text) => {
      await start('stateless')
      const streams = { open: 0 }
      fake.intercept = (rpc, _request, response) => {
        if (rpc !== endless) return false
        streams.open++
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const timer = setInterval(() => response.write(text.repeat(20)), 5)
        response.on('close', () => {
          clearInterval(timer)
          streams.open--
          closed?.()
        })
        return true
      }
      let closed: (() => void) | undefined
      const noneOpen = async (): Promise<void> => {
        while (streams.open > 0) await new Promise<void>((resolve) => (closed = resolve))
      }
      // A busy machine lists within a second what answers.
      const timeout = endless === 'tools/call' ? '1s' : '0.3s'
      toolbox = toolboxWith({ tools: { 'acme.*': { mock: [], timeout } } })
      const tool = toolNamed('acme.lookup', { mcp: { server: 'orders', tool: 'lookup' } })
      const agent = agentWith({ mcpServers: [{ name: 'orders', url: fake.url }] })
      const started = performance.now()
      const described = await toolbox.describe(agent, tool, new AbortController().signal)
      expect(described === undefined).toBe(endless !== 'tools/call')
      expect(await call()).toMatchObject(
        endless === 'tools/call' ? { at: 'unknown', code: 'timeout' } : { at: 'not_sent', code: 'unreachable' },
      )
      await noneOpen()
      await toolbox.close()
      expect(performance.now() - started).toBeLessThan(15_000)
    })
  },
)

const progress = (params: JsonObject): string =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`

test('a run that is cancelled during the call does not know its outcome', async () => {
  await start('stateless')
  const controller = new AbortController()
  fake.intercept = (rpc) => {
    if (rpc === 'tools/call') controller.abort()
    return rpc === 'tools/call'
  }
  expect(await call('lookup', {}, { signal: controller.signal })).toEqual({
    at: 'unknown',
    code: 'broken',
    error: 'The run was cancelled during the call.',
  })
})

describe('credentials', () => {
  test.each<[NonNullable<McpServer['auth']>, string, string]>([
    [{ scheme: 'bearer', secret: 'token' }, 'authorization', 'Bearer orders-token-1'],
    [{ scheme: 'header', secret: 'token', header: 'X-Orders-Key' }, 'x-orders-key', 'orders-token-1'],
  ])('%j are sent with every request and known to the redactor', async (auth, header, value) => {
    await start('sessions')
    const redactor = createRedactor()
    toolbox = toolboxWith({}, { redactor, env: { ORDERS_TOKEN: 'orders-token-1' } })
    await call('lookup', {}, { server: { auth } })
    expect(new Set(fake.requests.map((each) => each.headers[header]))).toEqual(new Set([value]))
    expect(redactor.text('orders-token-1')).toBe('***')
  })

  test.each(['tools/call', 'server/discover', 'initialize', 'tools/list'])(
    'HTTP 401 to %s holds the call as a missing secret does, and says which',
    async (refused) => {
      await start('stateless')
      toolbox = toolboxWith({}, { env: { ORDERS_TOKEN: 'orders-token-1' } })
      fake.intercept = (rpc, _, response) => rpc === refused && Boolean(response.writeHead(401).end('no'))
      expect(await call('lookup', {}, { server: { auth: { scheme: 'bearer', secret: 'token' } } })).toEqual({
        at: 'not_sent',
        code: 'secret_missing',
        error:
          'MCP server "orders" answered 401: It does not accept the secret "token" (environment variable ORDERS_TOKEN).',
      })
      expect(await call()).toEqual({
        at: 'not_sent',
        code: 'secret_missing',
        error: 'MCP server "orders" answered 401: It wants a credential, and its entry names none ("auth").',
      })
    },
  )

  test.each(['two\nlines', 'a\u0000b', '\u{1F511}'])(
    'a secret that no header takes (%j) holds the call, and nothing shows it',
    async (secret) => {
      await start('stateless')
      toolbox = toolboxWith({}, { env: { ORDERS_TOKEN: secret } })
      for (const auth of [
        { scheme: 'bearer', secret: 'token' },
        { scheme: 'header', secret: 'token', header: 'X-Key' },
      ] as const)
        expect(await call('lookup', {}, { server: { auth } })).toEqual({
          at: 'not_sent',
          code: 'secret_missing',
          error:
            'The secret "token" cannot be sent: the environment variable ORDERS_TOKEN has a character that no header takes.',
        })
      expect(fake.requests).toEqual([])
    },
  )

  test.each(['initialize', 'tools/list', 'tools/call'])(
    'a server that says the secret where its error to %s is cut shows no part of it',
    async (at) => {
      await start('stateless')
      const secret = 'orders-token-1'
      const redactor = createRedactor()
      toolbox = toolboxWith({}, { redactor, env: { ORDERS_TOKEN: `${secret}\n` } })
      for (let before = 0; before < 15; before++) {
        fake.intercept = (rpc, _, response) =>
          rpc === at && Boolean(response.writeHead(400).end(`${'x'.repeat(500 - before)}${secret}`))
        const outcome = await call('lookup', {}, { server: { auth: { scheme: 'bearer', secret: 'token' } } })
        expect(JSON.stringify(redactor.json(outcome))).not.toContain('xo')
      }
    },
  )

  test('a secret that is not set: nothing is sent', async () => {
    await start('stateless')
    expect(await call('lookup', {}, { server: { auth: { scheme: 'bearer', secret: 'token' } } })).toEqual({
      at: 'not_sent',
      code: 'secret_missing',
      error: 'The secret "token" is not set: the environment variable ORDERS_TOKEN is missing or empty.',
    })
    expect(fake.requests).toEqual([])
  })
})

test('an address that is not https is not connected to', async () => {
  await start('stateless')
  expect(await call('lookup', {}, { server: { url: 'http://mcp.example/' } })).toEqual({
    at: 'not_sent',
    code: 'refused',
    error:
      'MCP server "orders" cannot be reached: http://mcp.example is not https, which all hosts but those of this machine need; network.allowed_hosts in svc.config.yaml can allow it.',
  })
})
