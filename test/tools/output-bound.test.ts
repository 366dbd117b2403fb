/** An answer over a bound is an answer, whatever kind of tool gives it: its outcome is known, and it is cut with a note. */
import '../long-lived.ts'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { MAX_OUTPUT_BYTES, type ToolOutcome } from '../../src/tools/tool.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { startRawMcp, type RawAnswer, type RawMcp } from '../fakes/raw-mcp.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

const CUT = `\n[cut: the output is longer than ${MAX_OUTPUT_BYTES} bytes]`

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

const serve = async (answer: (response: ServerResponse) => void): Promise<string> => {
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => answer(response))
  })
  opened.push(() => stop(server))
  return listen(server)
}
const serveMcp = async (answer: RawAnswer): Promise<RawMcp> => {
  const raw = await startRawMcp({ 'tools/call': answer })
  opened.push(() => raw.close())
  return raw
}
const invokeMcp = async (answer: RawAnswer): Promise<object> => {
  const { url } = await serveMcp(answer)
  const tool = toolNamed('acme.find', { mcp: { server: 's', tool: 'find' } })
  const toolbox = toolboxWith({})
  opened.push(() => toolbox.close())
  const route = toolbox.route(agentWith({ mcpServers: [{ name: 's', url }] }), tool)!
  return timeless(await route.invoke(invocationOf(tool, {}), new AbortController().signal))
}
const invokeRoute = async (
  route: Parameters<typeof toolboxWith>[0]['tools'] & object,
  args: object = {},
): Promise<object> => {
  const tool = toolNamed('acme.find')
  const found = toolboxWith({ tools: route }).route(agentWith(), tool)!
  return timeless(await found.invoke(invocationOf(tool, args as never), new AbortController().signal))
}
const resultOf = (text: string): string => JSON.stringify({ content: [{ type: 'text', text }] })
const rpc = (result: string): string => `{"jsonrpc":"2.0","id":<id>,"result":${result}}`

/** Each kind of tool that answers with a text. */
const KINDS: readonly [string, (text: string) => Promise<object>][] = [
  ['mcp, as JSON', (text) => invokeMcp({ body: rpc(resultOf(text)) })],
  [
    'mcp, as an event stream',
    (text) => invokeMcp({ type: 'text/event-stream', body: `data: ${rpc(resultOf(text))}\n\n` }),
  ],
  ['mcp, as one text', (text) => invokeMcp({ body: rpc(JSON.stringify(text)) })],
  [
    'http',
    async (text) =>
      invokeRoute({ 'acme.*': { http: { url: await serve((response) => response.end(JSON.stringify(text))) } } }),
  ],
  [
    'command',
    (text) =>
      invokeRoute({
        'acme.*': { command: ['node', join(import.meta.dirname, 'programs', 'long.mjs'), String(text.length)] },
      }),
  ],
  ['mock', (text) => invokeRoute({ 'acme.*': { mock: [{ result: text }] } })],
]

describe.each(KINDS)('%s', (_, invoke) => {
  test('keeps an output up to the bound', async () => {
    // The quotes of JSON count where the output is read as bytes.
    const text = 'x'.repeat(MAX_OUTPUT_BYTES - 2)
    expect(await invoke(text)).toEqual({ at: 'returned', isError: false, result: text })
  })

  test.each([
    ['a little', MAX_OUTPUT_BYTES + 10],
    ['more than svc reads', 5 * MAX_OUTPUT_BYTES],
  ])('has answered with %s more than the bound', async (_, length) => {
    const outcome = (await invoke('x'.repeat(length))) as Extract<ToolOutcome, { at: 'returned' }>
    expect({ ...outcome, result: undefined }).toEqual({ at: 'returned', isError: false, result: undefined })
    const result = outcome.result as string
    expect(result.endsWith(CUT)).toBe(true)
    expect(result.slice(0, -CUT.length)).toMatch(/^"?x+$/)
    expect(result.length).toBe(MAX_OUTPUT_BYTES + CUT.length)
  })
})

const FLOODS: readonly [string, string, string][] = [
  ['JSON', 'application/json', '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'],
  ['an event', 'text/event-stream', 'data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'],
  ['text', 'text/plain', ''],
]

test.each(FLOODS)('an MCP server that floods with %s is cut off, and has answered', async (_, type, beginning) => {
  let written = 0
  const outcome = await invokeMcp((response) => {
    response.writeHead(200, { 'content-type': type })
    response.write(beginning)
    const block = Buffer.alloc(64 * 1024, 'x')
    const more = (): void => {
      while (!response.destroyed && written < 64 * MAX_OUTPUT_BYTES) {
        written += block.length
        if (!response.write(block)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  expect(outcome).toEqual({
    at: 'returned',
    isError: type === 'text/plain',
    result: expect.stringContaining(CUT) as string,
  })
  // What is on the way when the connection closes is some socket buffers.
  expect(written).toBeLessThan(24 * MAX_OUTPUT_BYTES)
})

test('what is cut off of an MCP answer is told where the rest is short', async () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(5 * MAX_OUTPUT_BYTES) }
  const result = JSON.stringify({ content: [{ type: 'text', text: 'a chart' }, image] })
  expect(await invokeMcp({ body: rpc(result) })).toEqual({
    at: 'returned',
    isError: false,
    result: expect.stringMatching(
      /^a chart\n\[image: image\/png, \d+ bytes, not shown, because its bytes are no image, sound or PDF that svc knows\]\n\[cut: the answer is longer than 4194304 bytes\]$/,
    ) as string,
  })
})

test('a notification over the bound is no answer', async () => {
  const note = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: 'x'.repeat(5 * MAX_OUTPUT_BYTES),
  })
  const late = JSON.stringify({
    jsonrpc: '2.0',
    params: 'x'.repeat(5 * MAX_OUTPUT_BYTES),
    method: 'notifications/message',
  })
  expect(
    await invokeMcp({
      type: 'text/event-stream',
      body: `data: ${note}\n\ndata: ${late}\n\ndata: ${rpc(resultOf('ok'))}\n\n`,
    }),
  ).toEqual({ at: 'returned', isError: false, result: 'ok' })
})
