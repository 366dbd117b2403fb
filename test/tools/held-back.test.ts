/** A call is held back where its guard says no: asked once the connection is open, and nothing is sent. */
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ProjectConfig } from '../../src/spec/project/config.ts'
import type { BoundTool } from '../../src/spec/snapshot.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import { startFakeMcp } from '../fakes/mcp.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { agentWith, invocationOf, toolboxWith, toolNamed } from './invocation.ts'
import { removeDirectory } from '../remove-directory.ts'

/** Guards that say no at the first question, and only at the second: the first is asked before anything is opened. */
const guards = {
  'before anything is opened': () => () => false,
  'when the connection is open': () => {
    let asked = 0
    return () => ++asked === 1
  },
}

async function callWith(
  mayLeave: () => boolean,
  config: ProjectConfig,
  tool: BoundTool,
  url?: string,
  args = {},
): Promise<ToolOutcome> {
  const toolbox = toolboxWith(config)
  const agent = agentWith(url === undefined ? {} : { mcpServers: [{ name: 'orders', url }] })
  const outcome = await toolbox
    .route(agent, tool)!
    .invoke(invocationOf(tool, args, { mayLeave }), new AbortController().signal)
  await toolbox.close()
  return outcome
}

const heldBack = { at: 'not_sent', code: 'held_back' }

test.each(Object.entries(guards))('http: %s', async (_, guard) => {
  let requests = 0
  const server = createServer((__, response) => {
    requests++
    response.end('1')
  })
  const url = await listen(server)
  try {
    const config: ProjectConfig = { tools: { 'acme.orders': { http: { url } } } }
    const tool = toolNamed('acme.orders')
    expect(await callWith(guard(), config, tool)).toMatchObject(heldBack)
    expect(requests).toBe(0)
    expect(await callWith(() => true, config, tool)).toMatchObject({ at: 'returned', result: 1 })
  } finally {
    await stop(server)
  }
})

test.each(Object.entries(guards))('command: %s', async (_, guard) => {
  const directory = await mkdtemp(join(tmpdir(), 'svc-held-'))
  try {
    const file = join(directory, 'ran')
    const script = `require('fs').writeFileSync(${JSON.stringify(file)}, ''); console.log(1)`
    const config: ProjectConfig = { tools: { 'acme.orders': { command: ['node', '-e', script] } } }
    const tool = toolNamed('acme.orders')
    expect(await callWith(guard(), config, tool)).toMatchObject(heldBack)
    expect(existsSync(file)).toBe(false)
    expect(await callWith(() => true, config, tool)).toMatchObject({ at: 'returned', result: 1 })
    expect(existsSync(file)).toBe(true)
  } finally {
    removeDirectory(directory)
  }
})

test.each(Object.entries(guards))('mcp: %s', async (_, guard) => {
  const fake = await startFakeMcp('modern', [
    { name: 'lookup', answer: () => ({ content: [], structuredContent: { found: 1 } }) },
  ])
  try {
    const tool = toolNamed('acme.lookup', { mcp: { server: 'orders', tool: 'lookup' } })
    const calls = () => fake.requests.filter(({ rpc }) => rpc === 'tools/call').length
    expect(await callWith(guard(), {}, tool, fake.url, { order: 'A-1' })).toMatchObject(heldBack)
    expect(calls()).toBe(0)
    expect(await callWith(() => true, {}, tool, fake.url, { order: 'A-1' })).toMatchObject({
      at: 'returned',
      result: { found: 1 },
    })
    expect(calls()).toBe(1)
  } finally {
    await fake.close()
  }
})
