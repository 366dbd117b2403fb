/** The trace of a run goes to every tool outside svc, beside the call and not in it. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import type { ProjectConfig } from '../../src/spec/project/config.ts'
import type { BoundTool } from '../../src/spec/snapshot.ts'
import type { ToolInvocation, ToolOutcome } from '../../src/tools/tool.ts'
import { startFakeMcp, type Era } from '../fakes/mcp.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { agentWith, invocationOf, toolboxWith, toolNamed } from './invocation.ts'

const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'rojo=1' }
const traceOf = ({ traceparent, tracestate }: IncomingHttpHeaders) => ({ traceparent, tracestate })

async function call(
  config: ProjectConfig,
  tool: BoundTool,
  trace: ToolInvocation['trace'],
  url?: string,
): Promise<ToolOutcome> {
  const toolbox = toolboxWith(config, { env: { PATH: process.env['PATH'], TRACEPARENT: 'of the server' } })
  const agent = agentWith(url === undefined ? {} : { mcpServers: [{ name: 'orders', url }] })
  const outcome = await toolbox
    .route(agent, tool)!
    .invoke(invocationOf(tool, { order: 'A-1' }, trace && { trace }), new AbortController().signal)
  await toolbox.close()
  return outcome
}

test('an http tool gets it as headers, with the same body as without', async () => {
  const got: { headers: IncomingHttpHeaders; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      got.push({ headers: request.headers, body })
      response.end('1')
    })
  })
  const url = await listen(server)
  try {
    const config: ProjectConfig = { tools: { 'acme.orders': { http: { url } } } }
    await call(config, toolNamed('acme.orders'), undefined)
    await call(config, toolNamed('acme.orders'), TRACE)
    expect(got.map(({ headers }) => traceOf(headers))).toEqual([{}, TRACE])
    expect(got[1]!.body).toBe(got[0]!.body)
  } finally {
    await stop(server)
  }
})

test('a program gets it as environment variables, never those of the server', async () => {
  const script = 'console.log(JSON.stringify([process.env.TRACEPARENT ?? null, process.env.TRACESTATE ?? null]))'
  const config: ProjectConfig = { tools: { 'acme.orders': { command: ['node', '-e', script] } } }
  const results = []
  for (const trace of [undefined, TRACE, { traceparent: TRACE.traceparent }])
    results.push(await call(config, toolNamed('acme.orders'), trace))
  expect(results).toMatchObject([
    { result: [null, null] },
    { result: [TRACE.traceparent, TRACE.tracestate] },
    { result: [TRACE.traceparent, null] },
  ])
})

test.each(['modern', 'stateless', 'sessions'] as const)('an MCP server of form %s gets it twice', async (era: Era) => {
  const fake = await startFakeMcp(era, [
    { name: 'lookup', answer: () => ({ content: [], structuredContent: { found: 1 } }) },
  ])
  try {
    const tool = toolNamed('acme.lookup', { mcp: { server: 'orders', tool: 'lookup' } })
    await call({}, tool, undefined, fake.url)
    await call({}, tool, TRACE, fake.url)
    const calls = fake.requests.filter(({ rpc }) => rpc === 'tools/call')
    expect(calls.map(({ headers }) => traceOf(headers))).toEqual([{}, TRACE])
    expect(calls.map(({ meta }) => traceOf(meta as IncomingHttpHeaders))).toEqual([{}, TRACE])
  } finally {
    await fake.close()
  }
})
