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

test.each(['*/*', 'text/html, */*;q=0.1'])('a client that accepts %s is answered', async (accept) => {
  const { post } = await serveClientDesk()
  expect((await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { accept })).message).toMatchObject({ result: {} })
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
