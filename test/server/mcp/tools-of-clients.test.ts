/** The tools of an agent that stands for its client, called by the clients that people have. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openServer } from '../../../src/server/open.ts'
import { ask, caller, closing, DESK, options, publishDesk, running, scripted, tool } from '../running.ts'

const snapshot = scripted(
  [],
  [
    tool('acme.orders.lookup', { sideEffectClass: 'read_only' }),
    tool('acme.refunds', { sideEffectClass: 'irreversible_action' }),
  ],
  { model: { provider: 'external', name: 'client' } },
)

type CallTool = (name: string, args: JsonObject, meta?: JsonObject) => Promise<unknown>
interface McpClient {
  readonly list: () => Promise<readonly { readonly name: string }[]>
  readonly call: CallTool
}

const bearer = (secret: string) => ({ requestInit: { headers: { authorization: `Bearer ${secret}` } } })

async function connectClient(url: URL, secret: string, capabilities = {}): Promise<McpClient & { client: Client }> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(url, bearer(secret)))
  closing(() => client.close())
  return {
    client,
    list: async () => (await client.listTools()).tools,
    call: async (name, args, meta) => await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }),
  }
}

async function connectOldClient(url: URL, secret: string): Promise<McpClient> {
  const client = new OldClient({ name: 'test', version: '1' })
  // The old SDK's types were not written for exact optional properties.
  await client.connect(new OldTransport(url, bearer(secret)) as unknown as Transport)
  closing(() => client.close())
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args, meta) => await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }),
  }
}

const SOON = { 'svc/wait-seconds': 0.2 }

/** Approves or rejects what waits, as a person with the key does. */
async function decide(operator: Parameters<typeof ask>[0], url: string, secret: string, approved: boolean) {
  const { items } = await ask<{ items: readonly { userTaskId: string; runId: string }[] }>(operator, 'GET /tasks')
  const { userTaskId, runId } = items[0]!
  const { status } = await caller(url, secret).post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved })
  expect(status).toBe(202)
}

describe.each([
  ['revision 2026-07-28', connectClient],
  ['the SDK of 2025', connectOldClient],
])('with a client of %s', (_, connect) => {
  async function serve() {
    const { server, secret, agentId } = await running({ snapshot })
    const client = await connect(new URL(`${server.url}/mcp/${agentId}`), secret)
    return { ...client, server, decided: (approved: boolean) => decide(server.operator, server.url, secret, approved) }
  }

  test('the tools have their own names and what their class says, whatever a server hints', async () => {
    const { list } = await serve()
    expect(await list()).toMatchObject([
      { name: 'lookup', annotations: { readOnlyHint: true, destructiveHint: false } },
      { name: 'refunds', annotations: { readOnlyHint: false, destructiveHint: true } },
      { name: 'svc_call_result', annotations: { readOnlyHint: true } },
    ])
  })

  test('a call that only reads is answered', async () => {
    const { call } = await serve()
    expect(await call('lookup', {})).toMatchObject({ structuredContent: { status: 'delivered' } })
  })

  test('a call that needs a person says so, and its outcome is there by its handle and by the same call again', async () => {
    const { call, decided } = await serve()
    const asked = (await call('refunds', { amount: 5 }, SOON)) as { structuredContent: { handle: string } }
    expect(asked).toMatchObject({ isError: true, structuredContent: { status: 'asking' } })
    // The same call again, and its handle, are that call: no second task.
    expect(await call('refunds', { amount: 5 }, SOON)).toMatchObject({ structuredContent: asked.structuredContent })
    await decided(true)
    const { handle } = asked.structuredContent
    expect(await call('svc_call_result', { handle })).toMatchObject({ structuredContent: { refunded: 180 } })
  })

  test('a call that a person rejects was not made, and says so', async () => {
    const { call, decided, server } = await serve()
    const asked = (await call('refunds', { amount: 5 }, SOON)) as { structuredContent: { handle: string } }
    await decided(false)
    expect(await call('svc_call_result', asked.structuredContent)).toMatchObject({ isError: true })
    const { items } = await ask<{ items: readonly { runId: string }[] }>(server.operator, 'GET /runs')
    expect(await ask(server.operator, `GET /runs/${items[0]!.runId}/calls`)).toMatchObject({
      items: [{ state: 'rejected' }],
    })
  })

  test('the same call again says that it is the one before, and the one after that is another', async () => {
    const { call, decided, server } = await serve()
    await call('refunds', { amount: 5 }, SOON)
    await decided(true)
    expect(await call('refunds', { amount: 5 })).toMatchObject({
      content: [{ text: expect.stringMatching(/^This is the outcome of the same call/) as unknown }, {}],
      structuredContent: { refunded: 180 },
    })
    await call('refunds', { amount: 5 }, SOON)
    expect(await ask(server.operator, 'GET /tasks')).toMatchObject({ total: 1 })
  })

  test('calls with one idempotency key are one call', async () => {
    const { call, server } = await serve()
    const meta = { 'svc/idempotency-key': 'refund 7', ...SOON }
    for (let times = 0; times < 3; times++) await call('refunds', { amount: 7 }, meta)
    expect(await ask(server.operator, 'GET /tasks')).toMatchObject({ total: 1 })
  })

  test('a tool that the agent does not have is an error of the protocol', async () => {
    const { call } = await serve()
    await expect(call('rm', {})).rejects.toThrow(/offers no tool rm/)
  })
})

test('a client that opens addresses is given the card, and its call is made once somebody has approved it', async () => {
  const server = await openServer({ ...options(), console: { port: 0 } })
  closing(() => server.close())
  const { secret } = await publishDesk(server.operator, {}, snapshot)
  const url = new URL(`${server.url}/mcp/${DESK}`)
  const { client, call } = await connectClient(url, secret, { elicitation: { url: {} } })
  const opened: unknown[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    opened.push(params)
    await decide(server.operator, server.url, secret, true)
    return { action: 'accept' }
  })
  expect(await call('refunds', { amount: 5 })).toMatchObject({ structuredContent: { refunded: 180 } })
  expect(opened).toMatchObject([{ mode: 'url', url: expect.stringMatching(/\/inbox\//) as unknown }])
})

test('an agent with a model of its own offers no tools, and one that stands for a client is no tool', async () => {
  const { server, secret, agentId } = await running()
  const own = await connectClient(new URL(`${server.url}/mcp/${agentId}`), secret)
  await expect(own.list()).rejects.toThrow(/has a model of its own/)
  const other = await running({ snapshot })
  const agents = await connectClient(new URL(`${other.server.url}/mcp`), other.secret)
  expect((await agents.list()).map(({ name }) => name)).toEqual(['svc_run'])
})

test('the key of one agent reaches no other', async () => {
  const { server, secret } = await running({ snapshot })
  const response = await fetch(`${server.url}/mcp/acme.other`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  })
  expect(response.status).toBe(404)
})
