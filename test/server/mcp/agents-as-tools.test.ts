/** Deployed agents as MCP tools, called by the clients that people have. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openServer } from '../../../src/server/open.ts'
import type { Conversation } from '../../../src/spec/api.ts'
import { ask, caller, closing, DESK, options, publishDesk, running, scripted, taskOf } from '../running.ts'

interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: JsonObject
  readonly isError?: boolean
}
interface McpClient {
  readonly list: () => Promise<readonly { readonly name: string }[]>
  readonly call: (name: string, args: object, meta?: JsonObject) => Promise<Answer>
}

const bearer = (secret: string) => ({ requestInit: { headers: { authorization: `Bearer ${secret}` } } })

async function connectClient(url: string, secret: string, capabilities = {}): Promise<McpClient & { client: Client }> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), bearer(secret)))
  closing(() => client.close())
  return {
    client,
    list: async () => (await client.listTools()).tools,
    call: async (name, args, meta) =>
      (await client.callTool({ name, arguments: { ...args }, ...(meta && { _meta: meta }) })) as Answer,
  }
}

async function connectOldClient(url: string, secret: string): Promise<McpClient> {
  const client = new OldClient({ name: 'test', version: '1' })
  const transport = new OldTransport(new URL(`${url}/mcp`), bearer(secret))
  // The old SDK's types were not written for exact optional properties.
  await client.connect(transport as unknown as Transport)
  closing(() => client.close())
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args, meta) =>
      (await client.callTool({ name, arguments: { ...args }, ...(meta && { _meta: meta }) })) as unknown as Answer,
  }
}

const ORDER = { order: 'A-1042', amount: 180 }
const TOOL = 'acme_refund-desk'

describe.each([
  ['revision 2026-07-28', connectClient],
  ['the SDK of 2025', connectOldClient],
])('with a client of %s', (_, connect) => {
  test('an agent is one tool, with its contract and what it may do, beside the one that tells how a run goes', async () => {
    const { server, secret } = await running()
    const { list } = await connect(server.url, secret)
    expect(await list()).toMatchObject([
      {
        name: TOOL,
        title: DESK,
        description: 'Answer.',
        inputSchema: {
          type: 'object',
          required: ['order', 'amount'],
          properties: { order: { type: 'string' }, amount: { type: 'number' } },
        },
        annotations: { readOnlyHint: false, destructiveHint: true },
      },
      { name: 'svc_run', annotations: { readOnlyHint: true, destructiveHint: false } },
    ])
  })

  test('a run that ends answers with its output', async () => {
    const { server, secret } = await running({ snapshot: scripted([{ say: 'Hello.' }]) })
    const { call } = await connect(server.url, secret)
    expect(await call(TOOL, {})).toMatchObject({
      content: [{ type: 'text', text: 'Hello.' }],
      structuredContent: { status: 'Completed', output: 'Hello.' },
    })
  })

  test('an output whose schema has references is checked by the client against what they lead to', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { money: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } },
      type: 'object',
      properties: { paid: { $ref: '#/$defs/money' }, of: { const: { $ref: '#/$defs/money' } } },
    }
    const output = { format: 'json', schema, strict: false, on_invalid: 'fail' } as const
    const { server, secret } = await running({ snapshot: scripted([{ say: { paid: { amount: 5 } } }], [], { output }) })
    const { list, call } = await connect(server.url, secret)
    const [{ outputSchema }] = (await list()) as unknown as [{ outputSchema: { properties: { output: object } } }]
    expect(outputSchema.properties.output).toEqual({
      $defs: schema.$defs,
      type: 'object',
      properties: { paid: { $ref: '#/properties/output/$defs/money' }, of: { const: { $ref: '#/$defs/money' } } },
    })
    expect(await call(TOOL, {})).toMatchObject({ structuredContent: { output: { paid: { amount: 5 } } } })
  })

  test('a run that waits for a person says so, and its output is there once somebody has decided', async () => {
    const { server, secret } = await running()
    const { call } = await connect(server.url, secret)
    const waiting = await call(TOOL, ORDER)
    const { runId } = waiting.structuredContent as { runId: string }
    expect(waiting).toMatchObject({
      structuredContent: { status: 'WaitingForHITL', waitsFor: [{ kind: 'approval' }] },
      content: [
        { text: expect.stringMatching(/^The run waits for a person\. .*you cannot answer for them/) as unknown },
      ],
    })
    const { get, post, until } = caller(server.url, secret)
    const userTaskId = taskOf(await get<Conversation>(`/v1/runs/${runId}/conversation`))
    await post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
    await until(runId, 'engine.session.completed')
    expect(await call('svc_run', { runId })).toMatchObject({
      content: [{ text: '{"refunded":180}' }],
      structuredContent: { runId, status: 'Completed', output: { refunded: 180 } },
    })
  })

  test('calls with one idempotency key, whatever its letters, start one run', async () => {
    const { server, secret, operator } = await running()
    const { call } = await connect(server.url, secret)
    const meta = { 'svc/idempotency-key': 'Bestellung №\n1042' }
    const [first, again] = [await call(TOOL, ORDER, meta), await call(TOOL, ORDER, meta)]
    const { runId } = first.structuredContent as { runId: string }
    expect([runId, again.structuredContent?.['runId']]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), runId])
    expect(await operator('GET /runs')).toMatchObject({ total: 1 })
  })

  test('what a start refuses is an error with the place, and nothing was started', async () => {
    const { server, secret, operator } = await running()
    const { call } = await connect(server.url, secret)
    const refused = await call(TOOL, { order: 7 })
    expect(refused.isError).toBe(true)
    expect(refused.content[0]?.text).toBe(
      'input_contract_violation: The input does not match the input contract of acme.refund-desk.\n' +
        '/amount: is required\n/order: must be string',
    )
    expect(await operator('GET /runs')).toMatchObject({ total: 0 })
  })

  test('a run of somebody else is not there, and a tool that is not listed neither', async () => {
    const { server, secret } = await running()
    const { call } = await connect(server.url, secret)
    expect(await call('svc_run', { runId: '01a22602-59e3-7000-9416-1758673c6fb6' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^not_found: /) as unknown }],
    })
    await expect(call('acme_other', {})).rejects.toThrow(/tool acme_other/)
  })
})

test('a client that opens addresses is given the card of the console, and asks again without starting another run', async () => {
  const server = await openServer({ ...options(), console: { port: 0 } })
  closing(() => server.close())
  const { secret } = await publishDesk(server.operator)
  const { client, call } = await connectClient(server.url, secret, { elicitation: { url: {} } })
  const opened: object[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    opened.push(params)
    const { url } = params as unknown as { readonly url: string }
    const [, userTaskId] = /\/inbox\/([^?]+)/.exec(url)!
    const { items } = await ask<{ items: readonly { runId: string }[] }>(server.operator, 'GET /runs')
    const { runId } = items[0]!
    await caller(server.url, secret).post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
    return { action: 'accept' }
  })
  expect(await call(TOOL, ORDER)).toMatchObject({
    structuredContent: { status: 'Completed', output: { refunded: 180 } },
  })
  expect(opened).toMatchObject([
    { mode: 'url', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/inbox\//) as unknown },
  ])
  expect(await ask(server.operator, 'GET /runs')).toMatchObject({ total: 1 })
})

test('an operator has every deployed agent, over the admin channel', async () => {
  const { server } = await running()
  const send = (request: Request): Promise<Response> => server.operator.fetch(request)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://operator.svc/mcp'), {
      fetch: (url, init) => send(new Request(url, init as RequestInit)),
    }),
  )
  closing(() => client.close())
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([TOOL, 'svc_run'])
})

describe('what is not let in', () => {
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const post = (url: string, headers: Record<string, string>, body: unknown = LIST) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  test('a missing and a wrong key are 401 with the scheme; nothing is listed', async () => {
    const { server } = await running()
    for (const headers of [{}, { authorization: 'Bearer svc_wrong' }, { authorization: 'Basic eA==' }]) {
      const response = await post(server.url, headers as Record<string, string>)
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    }
  })

  test('a page of another site, another method, and what is no JSON-RPC', async () => {
    const { server, secret } = await running()
    const key = { authorization: `Bearer ${secret}` }
    expect((await post(server.url, { ...key, origin: 'https://evil.example' })).status).toBe(403)
    expect((await fetch(`${server.url}/mcp`, { headers: key })).status).toBe(405)
    expect((await post(server.url, key, 'no json')).status).toBe(400)
    expect((await post(server.url, key, { a: 1 })).status).toBe(400)
    // Negative control: the same request with nothing wrong.
    expect((await post(server.url, key)).status).toBe(200)
  })

  test('no method answers a task', async () => {
    const { server, secret } = await running()
    const key = { authorization: `Bearer ${secret}` }
    for (const method of ['tasks/update', 'tasks/result', 'elicitation/create', 'svc/approve']) {
      const response = await post(server.url, key, { jsonrpc: '2.0', id: 1, method, params: {} })
      expect(await response.text()).toContain('-32601')
    }
  })
})
