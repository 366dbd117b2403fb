/** A client whose servers svc was put before: real clients, the official everything-server, and a server that is killed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterEach, describe, expect, test } from 'vitest'
import { startFakeMcp } from '../fakes/mcp.ts'
import { waitUntil } from '../wait-until.ts'
import { serve, svc, svcJson, writeProject, type Project, type ServerProcess } from './binary.ts'

const SVC = resolve(import.meta.dirname, '../../bin/svc.js')
const EVERYTHING = resolve(import.meta.dirname, '../node_modules/@modelcontextprotocol/server-everything/dist/index.js')

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

interface Shown {
  readonly isError?: boolean
  readonly content: readonly { readonly text?: string }[]
  readonly structuredContent?: { readonly handle?: string; readonly status?: string }
}

interface ToolClient {
  call(name: string, args: Record<string, unknown>): Promise<Shown>
  list(): Promise<string[]>
  close(): Promise<void>
}

interface Start {
  readonly command: string
  readonly args: string[]
  readonly cwd: string
}

const CLIENTS: Readonly<Record<string, (start: Start) => Promise<ToolClient>>> = {
  'revision 2026-07-28': async (start) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StdioClientTransport(start))
    return {
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, args) => (await client.callTool({ name, arguments: args })) as Shown,
      close: () => client.close(),
    }
  },
  'the SDK of 2025': async (start) => {
    const client = new OldClient({ name: 'test', version: '1' })
    // The old SDK's types were not written for exact optional properties.
    await client.connect(new OldTransport(start) as unknown as Transport)
    return {
      list: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, args) => (await client.callTool({ name, arguments: args })) as Shown,
      close: () => client.close(),
    }
  },
}

function projectOf(files: Readonly<Record<string, string>>): Project {
  const project = writeProject(files)
  closing.push(() => project.remove())
  return project
}

async function serveProject({ directory, data }: Project, ...roots: string[]): Promise<ServerProcess> {
  const server = await serve([...roots, '--data', data], { cwd: directory })
  closing.push(() => server.stop('SIGKILL'))
  return server
}

/** Starts what the client's file names, with the program of the checkout. */
async function openClient(project: Project, which: string, ...more: string[]): Promise<ToolClient> {
  const { mcpServers } = JSON.parse(readFileSync(join(project.directory, '.mcp.json'), 'utf8')) as {
    mcpServers: { svc: { command: string; args: string[] } }
  }
  const { command, args } = mcpServers.svc
  expect(command).toBe('svc')
  const client = await CLIENTS[which]!({
    command: process.execPath,
    args: [SVC, ...args, '--data', project.data, ...more],
    cwd: project.directory,
  })
  closing.push(() => client.close())
  return client
}

async function approveFirst({ directory, data }: Project): Promise<void> {
  const at = { cwd: directory }
  const { items } = await svcJson<{ items: { userTaskId: string; argsDigest: string }[] }>(
    ['inbox', '--data', data],
    at,
  )
  const { userTaskId, argsDigest } = items[0]!
  const { code, stderr } = await svc(['approve', userTaskId, '--args-digest', argsDigest, '--data', data], at)
  expect({ code, stderr }).toMatchObject({ code: 0 })
}

describe.each(Object.keys(CLIENTS))('a client of %s', (which) => {
  test('calls the tools of the everything-server through svc, and a later process gets what was decided', async () => {
    const project = projectOf({
      'svc.config.yaml': 'workspace: gateway\n',
      '.mcp.json': JSON.stringify({
        mcpServers: { everything: { command: process.execPath, args: [EVERYTHING, 'stdio'] } },
      }),
    })
    const original = readFileSync(join(project.directory, '.mcp.json'), 'utf8')
    const at = { cwd: project.directory }
    const data = ['--data', project.data]
    const wrapped = await svc(['gateway', 'wrap', '.mcp.json', '--run', '--yes', ...data], at)
    expect(wrapped).toMatchObject({ code: 0 })
    const sum = join(project.directory, 'tools/claude/everything_get_sum.yaml')
    writeFileSync(sum, readFileSync(sum, 'utf8').replace('irreversible_action', 'read_only'))
    await serveProject(project, 'claude-assistant.yaml')
    const client = await openClient(project, which)
    expect(await client.list()).toEqual(expect.arrayContaining(['everything_echo', 'everything_get_sum']))
    // It was given a class, so no person is asked.
    expect(await client.call('everything_get_sum', { a: 2, b: 3 })).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('5') as string }],
    })
    await client.close()
    const hurried = await openClient(project, which, '--hold', '3')
    const asked = await hurried.call('everything_echo', { message: 'hi' })
    expect(asked).toMatchObject({ isError: true, structuredContent: { status: 'asking' } })
    await hurried.close()
    await approveFirst(project)
    const later = await openClient(project, which)
    const { handle } = asked.structuredContent!
    expect(await later.call('svc_call_result', { handle })).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('hi') as string }],
    })
    await svc(['gateway', 'unwrap', '.mcp.json', '--yes', ...data], at)
    expect(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).toBe(original)
  }, 120_000)
})

const PAYING = {
  'svc.config.yaml': 'workspace: gateway\n',
  '.mcp.json': JSON.stringify({ mcpServers: { svc: { command: 'svc', args: ['mcp', '--tools', 'acme.assistant'] } } }),
  'tools/pay.yaml': `
apiVersion: svc/v1
kind: Tool
metadata: { name: pay, namespace: acme, version: 1.0.0 }
spec:
  side_effect_class: irreversible_action
  input_schema:
    inline:
      type: object
      properties: { amount: { type: number } }
      required: [amount]
      additionalProperties: false
`,
  'grant.yaml': `
apiVersion: svc/v1
kind: Policy
metadata: { name: grant, namespace: acme, version: 1.0.0 }
spec:
  description: Small payments need no person.
  conditions: { when: 'args.amount <= 500' }
  decision: { type: allow }
`,
}

const assistantAt = (url: string): string => `
apiVersion: svc/v1
kind: Agent
metadata: { name: assistant, namespace: acme, version: 1.0.0 }
spec:
  purpose: Tools for an assistant.
  instructions: { text: For people only. }
  model: { provider: external, name: assistant }
  mcp_servers: [{ name: bank, url: '${url}' }]
  tools: [{ ref: acme.pay@^1.0, mcp: { server: bank, tool: pay }, policies: [{ ref: grant.yaml }] }]
`

test('a server that is killed in the middle of an irreversible call sends it once, and its client gets the truth', async () => {
  const paid: object[] = []
  let answer = (): void => undefined
  const fake = await startFakeMcp('modern', [
    {
      name: 'pay',
      answer: (args) => {
        paid.push(args)
        return new Promise<object>((done) => (answer = () => done({ content: [{ type: 'text', text: 'paid' }] })))
      },
    },
  ])
  closing.push(async () => {
    answer()
    await fake.close()
  })
  const project = projectOf({ ...PAYING, 'assistant.yaml': assistantAt(fake.url) })
  const first = await serveProject(project, 'assistant.yaml')
  const client = await openClient(project, 'the SDK of 2025', '--hold', '3')
  const paying = client.call('pay', { amount: 180 })
  await waitUntil(() => paid.length === 1)
  await first.stop('SIGKILL')
  await serveProject(project)
  // The same request, which svc mcp sends again: the client called once.
  let told = await paying
  // Until the lease of the dead process has ended, it might still be sent there.
  while (told.structuredContent?.status === 'working')
    told = await client.call('svc_call_result', { handle: told.structuredContent.handle })
  expect(told).toMatchObject({ isError: true, structuredContent: { status: 'unknown' } })
  expect(told.content[0]!.text).toContain('it is not known whether it happened')
  expect(paid).toEqual([{ amount: 180 }])
}, 120_000)

test('a call waits for a server that restarts', async () => {
  const fake = await startFakeMcp('modern', [
    { name: 'pay', answer: () => ({ content: [{ type: 'text', text: 'paid' }] }) },
  ])
  closing.push(() => fake.close())
  const project = projectOf({ ...PAYING, 'assistant.yaml': assistantAt(fake.url) })
  const first = await serveProject(project, 'assistant.yaml')
  const client = await openClient(project, 'revision 2026-07-28')
  expect(await client.list()).toContain('pay')
  await first.stop('SIGTERM')
  const paying = client.call('pay', { amount: 20 })
  await serveProject(project)
  expect(await paying).toMatchObject({ content: [{ type: 'text', text: 'paid' }] })
}, 120_000)
