/** `svc mcp` as a program that clients start: agents as tools on its standard streams. */
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { copyExample, serveHere, svc, svcJson, svcProcess, type Project, type RunningServer } from './binary.ts'

const SVC = resolve(import.meta.dirname, '../../bin/svc.js')

/** Stands for an assistant of others. */
const ASSISTANT = `
apiVersion: svc/v1
kind: Agent
metadata:
  name: assistant
  namespace: acme
  version: 1.0.0
  owner: team-refunds
  governance: { risk_tier: low }
spec:
  purpose: Tools of the refund desk for an assistant.
  instructions: { text: For people only. }
  model: { provider: external, name: assistant }
  tools:
    - { ref: acme.orders.lookup@^1.0 }
    - { ref: acme.refunds@^1.0, policies: [{ ref: policies/refund-limit.yaml }] }
`

let project: Project
let server: RunningServer
let key: string
/** A second refund of one order would wait for a person. */
let orders = 1042

beforeAll(async () => {
  project = copyExample('refund')
  const at = { cwd: project.directory }
  writeFileSync(join(project.directory, 'agents/assistant.yaml'), ASSISTANT)
  server = await serveHere(['bundle.yaml', 'agents/assistant.yaml', '--data', project.data], at)
  await svc(['triggers', 'create', 'acme.refund-desk', '--type', 'api', '--data', project.data], at)
  const made = await svcJson<{ secret: string }>(
    ['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api', '--data', project.data],
    at,
  )
  key = made.secret
})

afterAll(async () => {
  await server.stop()
  project.remove()
})

/** As a person starts it in the project, and as a program elsewhere does with a key. */
const starts = (): Readonly<Record<string, { args: string[]; env: Record<string, string> }>> => ({
  'an operator in the project': { args: [SVC, 'mcp', '--data', project.data], env: {} },
  'a program with a key': { args: [SVC, 'mcp', '--url', server.url], env: { SVC_API_KEY: key } },
})

const CLIENTS = {
  'revision 2026-07-28': async (start: { args: string[]; env: Record<string, string> }) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StdioClientTransport({ command: process.execPath, cwd: project.directory, ...start }))
    return {
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args }),
      close: () => client.close(),
    }
  },
  'the SDK of 2025': async (start: { args: string[]; env: Record<string, string> }) => {
    const client = new OldClient({ name: 'test', version: '1' })
    const transport = new OldTransport({ command: process.execPath, cwd: project.directory, ...start })
    // The old SDK's types were not written for exact optional properties.
    await client.connect(transport as unknown as Transport)
    return {
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name: string, args: Record<string, unknown>) => await client.callTool({ name, arguments: args }),
      close: () => client.close(),
    }
  },
}

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('a client of %s', (which) => {
  test.each(['an operator in the project', 'a program with a key'])('runs an agent as %s', async (who) => {
    const { list, call, close } = await CLIENTS[which](starts()[who]!)
    try {
      expect(await list()).toContain('acme_refund-desk')
      expect(await call('acme_refund-desk', { order: `A-${orders++}`, amount: 40 })).toMatchObject({
        structuredContent: { status: 'Completed', output: { refunded: 40, currency: 'EUR' } },
      })
    } finally {
      await close()
    }
  })
})

test('a conversation goes on after its program, whose client numbers its requests from the beginning', async () => {
  const args = [SVC, 'mcp', '--tools', 'acme.assistant', '--conversation', 'desk', '--data', project.data]
  const lookUp = async (order: string): Promise<unknown> => {
    const { call, close } = await CLIENTS['the SDK of 2025']({ args, env: {} })
    try {
      return await call('lookup', { order })
    } finally {
      await close()
    }
  }
  expect(await lookUp('A-1042')).toMatchObject({ structuredContent: { order: 'A-1042' } })
  expect(await lookUp('A-1043')).toMatchObject({ structuredContent: { order: 'A-1043' } })
  const { items } = await svcJson<{ items: object[] }>(
    ['runs', 'list', '--agent', 'acme.assistant', '--data', project.data],
    {
      cwd: project.directory,
    },
  )
  expect(items).toHaveLength(1)
})

test('requests that have one id, one after the other, are calls of their own', async () => {
  const args = [SVC, 'mcp', '--tools', 'acme.assistant', '--data', project.data]
  const transport = new StdioClientTransport({ command: process.execPath, cwd: project.directory, args })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  const send = transport.send.bind(transport)
  const receive = transport.onmessage!
  let asked: string | number = 0
  transport.send = (message) => {
    if (!('id' in message) || !('method' in message)) return send(message)
    asked = message.id
    return send({ ...message, id: 1 })
  }
  const onmessage: typeof receive = (message) => receive('id' in message ? { ...message, id: asked } : message)
  Object.assign(transport, { onmessage })
  try {
    for (const order of ['A-1042', 'A-1043', 'A-1042'])
      expect(await client.callTool({ name: 'lookup', arguments: { order } })).toMatchObject({
        structuredContent: { order },
      })
  } finally {
    await client.close()
  }
})

test('what the server refuses is told in its words', async () => {
  const { call, close } = await CLIENTS['revision 2026-07-28'](starts()['a program with a key']!)
  try {
    await expect(call('acme_refund-desk', { order: 'x'.repeat(2 * 1024 * 1024), amount: 1 })).rejects.toThrow(
      /^The body is larger than 1048576 bytes\.$/,
    )
  } finally {
    await close()
  }
})

test('a message of more than 10 MiB ends the program, which says so', async () => {
  const ran = await svcProcess(['mcp', '--data', project.data], {
    cwd: project.directory,
    input: 'x'.repeat(11 * 1024 * 1024),
  })
  expect(ran).toMatchObject({
    code: 6,
    stdout: '',
    stderr: expect.stringContaining(
      'The client cannot be heard any more: ReadBuffer exceeded maximum size of 10485760',
    ),
  })
})

/** What the test uses of a client that is no SDK of the protocol: that of the AI SDK. */
interface AiSdkClient {
  tools(): Promise<Record<string, { execute(args: object, options: object): Promise<unknown> }>>
  close(): Promise<void>
}
const AI_SDK = resolve(import.meta.dirname, '../server/mcp/clients/node_modules/@ai-sdk/mcp/dist')

describe.skipIf(!existsSync(AI_SDK))('with npm ci --prefix test/server/mcp/clients --ignore-scripts', () => {
  test('a client with an implementation of its own calls tools, and gets what a person decided', async () => {
    const { createMCPClient } = (await import(pathToFileURL(join(AI_SDK, 'index.js')).href)) as {
      readonly createMCPClient: (config: object) => Promise<AiSdkClient>
    }
    const { Experimental_StdioMCPTransport: Transport } = (await import(
      pathToFileURL(join(AI_SDK, 'mcp-stdio/index.js')).href
    )) as { Experimental_StdioMCPTransport: new (config: object) => object }
    const args = [SVC, 'mcp', '--tools', 'acme.assistant', '--hold', '1', '--data', project.data]
    const transport = new Transport({ command: process.execPath, args, cwd: project.directory })
    const client = await createMCPClient({ transport })
    try {
      const tools = await client.tools()
      expect(Object.keys(tools)).toEqual(['lookup', 'refunds', 'svc_call_result'])
      const call = async (name: string, given: object): Promise<JsonObject> =>
        (await tools[name]!.execute(given, { toolCallId: name, messages: [] })) as JsonObject
      expect(await call('lookup', { order: 'A-2044' })).toMatchObject({ structuredContent: { order: 'A-2044' } })
      const asked = await call('refunds', { order: 'A-2044', amount: 180, currency: 'EUR' })
      expect(asked).toMatchObject({ isError: true, structuredContent: { status: 'asking' } })
      const { items } = await svcJson<{ items: readonly { userTaskId: string }[] }>(['inbox', '--data', project.data], {
        cwd: project.directory,
      })
      const approve = ['approve', items[0]!.userTaskId, '--data', project.data]
      expect(await svc(approve, { cwd: project.directory })).toMatchObject({ code: 0, stderr: '' })
      const { handle } = asked['structuredContent'] as { handle: string }
      expect(await call('svc_call_result', { handle })).toMatchObject({
        structuredContent: { order: 'A-2044', amount: 180 },
      })
    } finally {
      await client.close()
    }
  })
})

test('without a server it says so in one sentence and ends', async () => {
  const { code, stdout, stderr } = await svc(['mcp', '--data', `${project.data}-none`], { cwd: project.directory })
  expect([code, stdout, stderr.split('\n')[0]]).toEqual([
    8,
    '',
    expect.stringMatching(/^error\[no_server\]: No server/),
  ])
})
