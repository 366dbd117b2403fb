/** What an MCP endpoint says of itself and of errors. */
import { expect, test } from 'vitest'
import { callOf, serveClientDesk } from './post-mcp.ts'

test('an error of ours is told as one, with the request by which the log has it, and nothing of its text', async () => {
  const lines: unknown[] = []
  const log = { write: (...line: unknown[]) => void lines.push(line) }
  const { server, post } = await serveClientDesk({ log })
  const broken = Object.assign(new Error('SQLITE_IOERR /var/lib/svc/data.db'), { code: 10, data: { at: '/var/lib' } })
  Object.assign(server.engine.gate, { callTool: () => Promise.reject(broken), listTools: () => Promise.reject(broken) })
  for (const body of [callOf(1, 'lookup'), { jsonrpc: '2.0', id: 1, method: 'tools/list' }]) {
    const { headers, message, text } = await post(body)
    const requestId = headers.get('x-request-id')!
    expect(message).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: `Something went wrong on our side. (request ${requestId})` },
    })
    expect(text).not.toContain('/var/lib')
    expect(lines).toContainEqual([
      'error',
      'request failed',
      { requestId, path: '/mcp', detail: expect.stringContaining('SQLITE_IOERR') as unknown },
    ])
  }
})

test('no news of the list is promised, and a client that asks for some gets an answer that ends', async () => {
  const { post } = await serveClientDesk()
  const about = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const begun = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: about })
  expect(begun.message!.result).toMatchObject({ capabilities: { tools: { listChanged: false } } })
  const listen = {
    jsonrpc: '2.0',
    id: 2,
    method: 'subscriptions/listen',
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': about.clientInfo,
      },
    },
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  const { status, text } = await post(listen, headers)
  expect([status, text]).toEqual([200, expect.stringContaining('"resultType":"complete"')])
})

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}
const STREAM = 'text/event-stream'
const JSON_TYPE = 'application/json'

test.each([
  ['*/*', STREAM],
  ['text/html, */*;q=0.1', STREAM],
  ['', STREAM],
  ['APPLICATION/JSON, TEXT/EVENT-STREAM', STREAM],
  [STREAM, STREAM],
  [JSON_TYPE, JSON_TYPE],
  ['application/json;q=0.9', JSON_TYPE],
])('a client that accepts "%s" is answered with %s, in each revision', async (accept, type) => {
  const { post } = await serveClientDesk()
  const called = callOf(1, 'lookup')
  const answers = [
    await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { accept }),
    await post(called, { accept }),
    await post(callOf(1, 'lookup', {}, ENVELOPE), {
      accept,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'lookup',
    }),
  ]
  expect(answers.map(({ status, message }) => [status, message?.result !== undefined])).toEqual([
    [200, true],
    [200, true],
    [200, true],
  ])
  expect(answers[1]!.headers.get('content-type')).toContain(type)
})

test('a batch is answered with a list where only JSON is read', async () => {
  const { post } = await serveClientDesk()
  const { message } = await post([callOf(1, 'lookup', { a: 1 }), callOf(2, 'lookup', { a: 2 })], { accept: JSON_TYPE })
  expect((message as unknown as readonly { id: number }[]).map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([
    1, 2,
  ])
})

test('a client that accepts neither is told what there is', async () => {
  const { post } = await serveClientDesk()
  expect((await post(callOf(1, 'lookup'), { accept: 'text/html' })).status).toBe(406)
})

test('arguments that are null are none', async () => {
  const { post } = await serveClientDesk()
  const { message } = await post({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'lookup', arguments: null },
  })
  expect(message).toMatchObject({ result: { structuredContent: { status: 'delivered' } } })
})

test('two requests of a batch with one id are refused, as only one of them could be answered', async () => {
  const { post, operator } = await serveClientDesk()
  const { status, message } = await post([callOf(1, 'lookup', { order: 1 }), callOf(1, 'lookup', { order: 2 })])
  expect([status, message]).toMatchObject([
    400,
    {
      code: 'validation_failed',
      details: [{ path: '/1/id', message: 'is the id of an earlier request of the batch' }],
    },
  ])
  expect(await operator('GET /runs')).toMatchObject({ total: 0 })
  // Negative control: notifications have no ids.
  const NOTE = { jsonrpc: '2.0', method: 'notifications/initialized' }
  expect((await post([NOTE, NOTE, callOf(1, 'lookup'), callOf(2, 'lookup', { order: 2 })])).status).toBe(200)
})
