/** The reference server that shows all an MCP server may do, over streamable HTTP as its own program serves it. */
import { randomUUID } from 'node:crypto'
import { createServer as createHttp, type Server } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { questionFieldsIn, type ServerAnswer, type ServerQuestion } from '../../src/spec/server-question.ts'
import { checkValue } from '../../src/tools/check/check.ts'
import type { Toolbox, ToolInvocation, ToolOutcome, ToolProgress } from '../../src/tools/tool.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

interface Everything {
  readonly createServer: () => {
    readonly server: { connect(transport: Transport): Promise<void> }
    readonly cleanup: (session?: string) => void
  }
}

let http: Server
let url: string
let toolbox: Toolbox
const cleanups: (() => void)[] = []

beforeAll(async () => {
  // @ts-expect-error The package has no types.
  const { createServer } = (await import('@modelcontextprotocol/server-everything/dist/server/index.js')) as Everything
  const transports = new Map<string, StreamableHTTPServerTransport>()
  http = createHttp((request, response) => {
    void (async () => {
      const known = transports.get(String(request.headers['mcp-session-id']))
      if (known) return known.handleRequest(request, response)
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void transports.set(id, transport),
      })
      const { server, cleanup } = createServer()
      cleanups.push(() => cleanup(transport.sessionId))
      // The old SDK's types were not written for exact optional properties.
      await server.connect(transport as unknown as Transport)
      await transport.handleRequest(request, response)
    })()
  })
  url = `${await listen(http)}/mcp`
  toolbox = toolboxWith({ tools: { 'acme.trigger-long-running-operation': { mock: [], timeout: '300ms' } } })
})
afterAll(async () => {
  await toolbox.close()
  for (const cleanup of cleanups) cleanup()
  await stop(http)
})

const TINY_IMAGE = {
  kind: 'image',
  mediaType: 'image/png',
  longestEdge: expect.any(Number) as number,
  data: expect.stringMatching(/^iVBORw0KGgo/) as string,
}

const agent = () => agentWith({ mcpServers: [{ name: 'everything', url }] })
const named = (name: string) => toolNamed(`acme.${name}`, { mcp: { server: 'everything', tool: name } })
const call = async (name: string, args: JsonObject, signal = new AbortController().signal): Promise<object> =>
  timeless(await toolbox.route(agent(), named(name))!.invoke(invocationOf(named(name), args), signal))

test.each([
  ['echo', { message: 'hi' }, 'Echo: hi'],
  ['get-sum', { a: 2, b: 3 }, 'The sum of 2 and 3 is 5.'],
  ['get-structured-content', { location: 'New York' }, { temperature: 33, conditions: 'Cloudy', humidity: 82 }],
  ['get-tiny-image', {}, expect.stringMatching(/\n\[image: image\/png, \d+ bytes\]\n/) as string, [TINY_IMAGE]],
  [
    'get-resource-links',
    { count: 1 },
    [
      { type: 'text', text: expect.any(String) as string },
      expect.objectContaining({ type: 'resource_link', uri: expect.any(String) as string }),
    ],
  ],
  ['trigger-long-running-operation', { duration: 0.05, steps: 1 }, expect.stringContaining('completed') as string],
] as const)('%s', async (name, args, result, media?: readonly object[]) => {
  expect(await call(name, args)).toEqual({
    at: 'returned',
    isError: false,
    result,
    ...(media && { media }),
  })
})

test('arguments that the server refuses are an error of the tool', async () => {
  expect(await call('get-sum', { a: 'two', b: 3 })).toEqual({
    at: 'returned',
    isError: true,
    result: expect.stringContaining('Input validation error') as string,
  })
})

test('an operation that takes too long has an unknown outcome', async () => {
  expect(await call('trigger-long-running-operation', { duration: 30, steps: 1 })).toEqual({
    at: 'unknown',
    code: 'timeout',
    error: 'MCP server "everything" did not answer within 300 ms.',
  })
})

/** Steps, each with a report of its progress; times of the route; what becomes of the call. */
test.each([
  [
    'with progress goes on beyond the idle bound',
    { duration: 0.8, steps: 16 },
    { timeout: '20s', idle_timeout: '400ms' },
    { at: 'returned', isError: false, result: expect.stringContaining('completed') as string },
  ],
  [
    'without progress ends at the idle bound',
    { duration: 30, steps: 1 },
    { timeout: '20s', idle_timeout: '300ms' },
    {
      at: 'unknown',
      code: 'timeout',
      error: 'MCP server "everything" neither answered nor reported progress within 300 ms.',
    },
  ],
  [
    'with progress ends at the whole bound',
    { duration: 30, steps: 600 },
    { timeout: '300ms', idle_timeout: '250ms' },
    { at: 'unknown', code: 'timeout', error: 'MCP server "everything" did not answer within 300 ms.' },
  ],
])('an operation %s', async (_, args, times, expected) => {
  const name = 'trigger-long-running-operation'
  const own = toolboxWith({ tools: { [`acme.${name}`]: times } })
  // Connected before: the bounds are those of the operation.
  await own
    .route(agent(), named('echo'))!
    .invoke(invocationOf(named('echo'), { message: '' }), new AbortController().signal)
  const outcome = await own
    .route(agent(), named(name))!
    .invoke(invocationOf(named(name), args), new AbortController().signal)
  await own.close()
  expect(timeless(outcome)).toEqual(expected)
})

test('what an operation reports is passed on', async () => {
  const name = 'trigger-long-running-operation'
  const reports: ToolProgress[] = []
  const own = toolboxWith({})
  const invocation = invocationOf(
    named(name),
    { duration: 0.1, steps: 4 },
    { onProgress: (each) => reports.push(each) },
  )
  const outcome = await own.route(agent(), named(name))!.invoke(invocation, new AbortController().signal)
  await own.close()
  expect([outcome.at, reports]).toEqual(['returned', [{ progress: 1, total: 4 }]])
})

test('an operation that is called off has an unknown outcome', async () => {
  const stopping = new AbortController()
  const called = call('trigger-long-running-operation', { duration: 30, steps: 1 }, stopping.signal)
  setImmediate(() => stopping.abort())
  expect(await called).toMatchObject({ at: expect.stringMatching(/unknown|not_sent/) as string })
})

test.each(['echo', 'get-sum', 'trigger-long-running-operation'])('%s is described to the model', async (name) => {
  expect(await toolbox.describe(agent(), named(name), new AbortController().signal)).toMatchObject({
    description: expect.any(String) as string,
    schema: { type: 'object', properties: expect.any(Object) as object },
  })
})

const FORM = {
  name: 'Ann',
  check: true,
  email: 'ann@acme.example',
  birthdate: '1990-01-31',
  integer: 7,
  untitledSingleSelectEnum: 'Joey',
  untitledMultipleSelectEnum: ['Piano'],
  titledSingleSelectEnum: 'hero-2',
  titledMultipleSelectEnum: ['fish-1'],
  legacyTitledEnum: 'pet-2',
}

test('its form is passed on with every kind of field, and gets the answer', async () => {
  const asked: ServerQuestion[] = []
  const tool = named('trigger-elicitation-request')
  const onQuestion = (question: ServerQuestion): Promise<ServerAnswer> => {
    asked.push(question)
    return Promise.resolve({ action: 'accept', content: FORM })
  }
  const invocation = invocationOf(tool, {}, { onQuestion })
  const outcome = await toolbox.route(agent(), tool)!.invoke(invocation, new AbortController().signal)
  expect(checkValue(asked[0]!.schema!, FORM)).toEqual([])
  expect(questionFieldsIn(asked[0]!.schema).map(({ name }) => name)).toHaveLength(13)
  expect(JSON.stringify(outcome)).toContain('- Name: Ann')
})

test.each([
  ['request', ['https://a.example/login']],
  ['error', ['https://modelcontextprotocol.io/', 'https://a.example/login']],
])('its address is passed on, by a %s', async (path, addresses) => {
  const tool = named('trigger-url-elicitation')
  const asked: ServerQuestion[] = []
  const onQuestion = (question: ServerQuestion): Promise<ServerAnswer> => {
    asked.push(question)
    return Promise.resolve({ action: 'accept' })
  }
  const args = {
    url: 'https://a.example/login',
    message: 'Sign in.',
    elicitationId: 'e-1',
    errorPath: path === 'error',
  }
  const invoke = (more: Partial<ToolInvocation> = {}): Promise<ToolOutcome> =>
    toolbox
      .route(agent(), tool)!
      .invoke(invocationOf(tool, args, { onQuestion, ...more }), new AbortController().signal)
  let outcome = await invoke()
  if (outcome.at === 'asked') {
    asked.push(...outcome.questions)
    const answers = outcome.questions.map(({ name }) => ({ name, action: 'accept' as const }))
    outcome = await invoke({ attempt: 2, input: { answers } })
  }
  expect(asked.map(({ url: address }) => address)).toEqual(addresses)
  expect(outcome).toMatchObject({ at: 'returned', isError: false })
})
