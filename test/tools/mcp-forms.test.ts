/** Forms in which MCP servers answer that their specification does not have. A new one is one line of a table. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { Toolbox, ToolInvocation } from '../../src/tools/tool.ts'
import { RAW_INITIALIZED, sendRaw, startRawMcp, type RawAnswer, type RawMcp } from '../fakes/raw-mcp.ts'
import { createRedactor } from '../../src/base/secret.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

let raw: RawMcp
let toolbox: Toolbox
beforeEach(async () => {
  raw = await startRawMcp()
  toolbox = toolboxWith({ tools: { 'acme.*': { mock: [], timeout: '5s' } } })
})
afterEach(async () => {
  await toolbox.close()
  await raw.close()
})

const call = async (name = 'find', args: JsonObject = {}, more: Partial<ToolInvocation> = {}): Promise<object> => {
  const tool = toolNamed(`acme.${name}`, { mcp: { server: 's', tool: name } })
  const agent = agentWith({ mcpServers: [{ name: 's', url: raw.url }] })
  return timeless(
    await toolbox.route(agent, tool)!.invoke(invocationOf(tool, args, more), new AbortController().signal),
  )
}
const callsMade = (): number => raw.requests.filter(({ method }) => method === 'tools/call').length

const text = (...texts: string[]) => ({ content: texts.map((each) => ({ type: 'text', text: each })) })
const result = (value: unknown): RawAnswer => ({ result: value })
const message = (value: object): RawAnswer => ({
  body: JSON.stringify({ jsonrpc: '2.0', id: '@', ...value }).replace('"@"', '<id>'),
})
const events = (body: string): RawAnswer => ({ type: 'text/event-stream', body })
const RESULT = '{"jsonrpc":"2.0","id":<id>,"result":{"content":[{"type":"text","text":"ok"}]}}'
const png = { type: 'image', mimeType: 'image/png', data: 'AQID' }

const ANSWERS: readonly [string, RawAnswer, JsonValue][] = [
  // Content.
  ['content that is one text', result({ content: 'ok' }), 'ok'],
  ['content that is one part', result({ content: { type: 'text', text: 'ok' } }), 'ok'],
  ['content that is a list of texts', result({ content: ['a', 'b'] }), 'a\nb'],
  ['no content', result({}), ''],
  ['content null', result({ content: null }), ''],
  ['content null beside structured content', result({ content: null, structuredContent: { a: 1 } }), { a: 1 }],
  ['structured content null', result({ ...text('ok'), structuredContent: null }), 'ok'],
  ['structured content that is a list', result({ content: [], structuredContent: [1, 2] }), [1, 2]],
  ['a part without a type', result({ content: [{ text: 'ok' }] }), 'ok'],
  ['a part whose text is null', result({ content: [{ type: 'text', text: null }] }), '""'],
  ['a part whose text is an object', result({ content: [{ type: 'text', text: { a: 1 } }] }), { a: 1 }],
  ['a part of an unknown type', result({ content: [{ type: 'table', rows: [1] }] }), [{ type: 'table', rows: [1] }]],
  ['a part that is null', result({ content: [null] }), [null]],
  [
    'an odd part beside text',
    result({ content: [{ type: 'x' }, { type: 'text', text: 'ok' }] }),
    [{ type: 'x' }, { type: 'text', text: 'ok' }],
  ],
  ['annotations null', result({ content: [{ type: 'text', text: 'ok', annotations: null }] }), 'ok'],
  ['_meta null', result({ ...text('ok'), _meta: null }), 'ok'],
  ['isError null', result({ ...text('ok'), isError: null }), 'ok'],
  ['a result without members of the protocol', result({ orders: [1], resultType: 'complete' }), { orders: [1] }],
  ['the result of the first revision', result({ toolResult: { a: 1 } }), { a: 1 }],
  ['a result that is text', result('ok'), 'ok'],
  ['a result that is a list', result([1]), [1]],
  ['a result that is null', result(null), null],
  // Numbers and JSON in text.
  [
    'text that is JSON with a number that would change',
    result(text('{"id":12345678901234567890}')),
    '{"id":12345678901234567890}',
  ],
  [
    'structured content with a number that would change',
    { body: '{"jsonrpc":"2.0","id":<id>,"result":{"structuredContent":{"id":12345678901234567890}}}' },
    { id: '12345678901234567890' },
  ],
  // Media and files.
  [
    'an image',
    result({ content: [png] }),
    '[image: image/png, 3 bytes, not shown, because its bytes are no image, sound or PDF that svc knows]',
  ],
  [
    'audio',
    result({ content: [{ type: 'audio', mimeType: 'audio/wav', data: 'AQID' }] }),
    '[audio: audio/wav, 3 bytes, not shown, because its bytes are no image, sound or PDF that svc knows]',
  ],
  [
    'a file',
    result({
      content: [{ type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: 'AQID' } }],
    }),
    '[resource file:///a.pdf: application/pdf, 3 bytes, not shown, because its bytes are no image, sound or PDF that svc knows]',
  ],
  [
    'bytes of an unknown type',
    result({ content: [{ type: 'video', data: 'AQID' }] }),
    '[video: of an unknown type, 3 bytes, not shown, because its bytes are no image, sound or PDF that svc knows]',
  ],
  [
    'an image beside structured content',
    result({ content: [png], structuredContent: { a: 1 } }),
    {
      structuredContent: { a: 1 },
      content: ['[image: image/png, 3 bytes, not shown, because its bytes are no image, sound or PDF that svc knows]'],
    },
  ],
  // Messages.
  ['no "jsonrpc"', { body: '{"id":<id>,"result":{"content":"ok"}}' }, 'ok'],
  ['another id', { body: '{"jsonrpc":"2.0","id":"other","result":{"content":"ok"}}' }, 'ok'],
  ['the id as text', { body: '{"jsonrpc":"2.0","id":"<id>","result":{"content":"ok"}}' }, 'ok'],
  ['no id', { body: '{"jsonrpc":"2.0","result":{"content":"ok"}}' }, 'ok'],
  ['error null', message({ result: { content: 'ok' }, error: null }), 'ok'],
  ['a batch', { body: `[${RESULT}]` }, 'ok'],
  ['the result alone', { body: '{"content":[{"type":"text","text":"ok"}]}' }, 'ok'],
  ['a byte order mark', { body: `\uFEFF${RESULT}` }, 'ok'],
  // Content types and streams.
  ['no content type', { type: '', body: RESULT }, 'ok'],
  ['text/plain', { type: 'text/plain', body: RESULT }, 'ok'],
  ['text/html', { type: 'text/html; charset=utf-8', body: RESULT }, 'ok'],
  ['events as JSON', { body: `event: message\ndata: ${RESULT}\n\n` }, 'ok'],
  ['an event stream', events(`event: message\ndata: ${RESULT}\n\n`), 'ok'],
  ['an event without its blank line', events(`data: ${RESULT}`), 'ok'],
  ['an event with another name', events(`event: result\ndata: ${RESULT}\n\n`), 'ok'],
  ['an event in several lines', events(`data: ${RESULT.replace(',', ',\ndata: ')}\n\n`), 'ok'],
  ['lines that end with CR LF', events(`: hi\r\n\r\ndata: ${RESULT}\r\n\r\n`), 'ok'],
  ['events without data', events(`event: ping\n\ndata:\n\n: x\n\ndata: ${RESULT}\n\n`), 'ok'],
  ['events that are no JSON', events(`data: ping\n\ndata: ${RESULT}\n\ndata: [DONE]\n\n`), 'ok'],
  [
    'notifications before',
    events(`data: {"jsonrpc":"2.0","method":"notifications/message","params":null}\n\ndata: ${RESULT}\n\n`),
    'ok',
  ],
  ['202 with a body', { status: 202, body: RESULT }, 'ok'],
  ['201', { status: 201, body: RESULT }, 'ok'],
  ['an HTTP error with an answer', { status: 500, body: RESULT }, 'ok'],
]

test.each(ANSWERS)('an answer with %s is understood', async (_, answer, expected) => {
  raw.answers = { 'tools/call': answer }
  expect(await call()).toEqual({ at: 'returned', isError: false, result: expected })
  expect(callsMade()).toBe(1)
})

const UNREADABLE: readonly [string, RawAnswer, string][] = [
  ['isError as text', result({ ...text('No.'), isError: 'true' }), 'No.'],
  [
    'isError beside an image, which a vendor would refuse with the whole request',
    result({
      content: [
        { type: 'text', text: 'No.' },
        { ...png, data: 'iVBORw0KGgo=' },
      ],
      isError: true,
    }),
    'No.\n[image: image/png, 8 bytes, not shown, because the call failed]',
  ],
  ['an error that is text', message({ error: 'No.' }), 'No.'],
  ['an error without a message', message({ error: { code: 7 } }), '{"code":7}'],
  ['an error whose code is text', message({ error: { code: 'E1', message: 'No.' } }), 'No.'],
  [
    'an error with HTTP 500',
    { status: 500, body: '{"jsonrpc":"2.0","id":<id>,"error":{"code":-32603,"message":"No."}}' },
    'No.',
  ],
  [
    'a wish for an answer without a question',
    result({ resultType: 'input_required', inputRequests: {} }),
    'The call was not made: its server asks a person first, and svc does not pass the question on, since it wants an answer, and asks nothing.',
  ],
  ['nothing', { body: '' }, 'The call was executed, but the answer of MCP server "s" is empty'],
  ['no content (204)', { status: 204, body: '' }, 'The call was executed, but the answer of MCP server "s" is empty'],
  [
    'a page',
    { type: 'text/html', body: '<h1>Hello</h1>' },
    'The call was executed, but the answer of MCP server "s" is not JSON: <h1>Hello</h1>',
  ],
  [
    'half of the JSON',
    { body: '{"jsonrpc":"2.0",' },
    'The call was executed, but the answer of MCP server "s" is not JSON: {"jsonrpc":"2.0",',
  ],
  [
    'an event that is no JSON',
    events('data: done\n\n'),
    'The call was executed, but the answer of MCP server "s" is not JSON: done',
  ],
]

test.each(UNREADABLE)('an answer with %s is an error of the call, which was made', async (_, answer, expected) => {
  raw.answers = { 'tools/call': answer }
  expect(await call()).toMatchObject({ at: 'returned', isError: true, result: expected })
  expect(callsMade()).toBe(1)
})

test('a stream that ends without an answer leaves the outcome unknown', async () => {
  raw.answers = { 'tools/call': events(': nothing\n\n') }
  expect(await call()).toMatchObject({ at: 'unknown', code: 'broken' })
})

const schema = { type: 'object', properties: { q: { type: 'string' } } }
const good = { name: 'find', description: 'Finds.', inputSchema: schema }
const list = (...tools: unknown[]): unknown => ({ tools: [...tools, good] })

const LISTS: readonly [string, unknown, string[], string[]][] = [
  ['nextCursor null', { tools: [good], nextCursor: null }, ['find'], []],
  ['nextCursor empty', { tools: [good], nextCursor: '' }, ['find'], []],
  ['nextCursor a number', { tools: [good], nextCursor: 7 }, ['find'], []],
  ['a list alone', [good], ['find'], []],
  ['unknown members', { tools: [{ ...good, icons: 'none', execution: 5, _meta: null }], ttlMs: 'x' }, ['find'], []],
  ['title and annotations null', { tools: [{ ...good, title: null, annotations: null }] }, ['find'], []],
  ['an outputSchema that is text', { tools: [{ ...good, outputSchema: 'none' }] }, ['find'], []],
  ['hints that are text', { tools: [{ ...good, annotations: { readOnlyHint: 'yes' } }] }, ['find'], []],
  ['a tool without a description', list({ name: 'a', inputSchema: schema }), ['a', 'find'], []],
  ['a description null', list({ name: 'a', description: null, inputSchema: schema }), ['a', 'find'], []],
  ['a tool without a schema', list({ name: 'a' }), ['a', 'find'], []],
  ['a schema null', list({ name: 'a', inputSchema: null }), ['a', 'find'], []],
  ['a schema without a type', list({ name: 'a', inputSchema: { anyOf: [{ type: 'object' }] } }), ['a', 'find'], []],
  [
    'properties null',
    list({ name: 'a', inputSchema: { type: 'object', properties: null } }),
    ['a', 'find'],
    ['Arguments of tool "a" are not checked against /properties of its schema: it must be object.'],
  ],
  [
    'properties that are a list',
    list({ name: 'a', inputSchema: { type: 'object', properties: [], required: 'q' } }),
    ['a', 'find'],
    [
      'Arguments of tool "a" are not checked against /properties of its schema: it must be object.',
      'Arguments of tool "a" are not checked against /required of its schema: it must be array.',
    ],
  ],
  [
    'a description that is an object',
    list({ name: 'a', description: {} }),
    ['find'],
    ['Tool "a" is left out: its description is no text.'],
  ],
  [
    'a schema that is text',
    list({ name: 'a', inputSchema: 'none' }),
    ['find'],
    ['Tool "a" is left out: its inputSchema is no object.'],
  ],
  [
    'a tool without a name',
    list({ inputSchema: schema }),
    ['find'],
    ['Entry 1 of its list of tools is left out: it has no name.'],
  ],
  [
    'a name that is a number',
    list({ name: 7 }),
    ['find'],
    ['Entry 1 of its list of tools is left out: it has no name.'],
  ],
  ['an entry null', list(null), ['find'], ['Entry 1 of its list of tools is left out: it is no object.']],
  ['an entry that is text', list('find'), ['find'], ['Entry 1 of its list of tools is left out: it is no object.']],
  ['a tool twice', list(good), ['find'], ['Tool "find" is listed twice; only the first is used.']],
]

const asStream = (value: unknown): RawAnswer =>
  events(`data: ${JSON.stringify({ jsonrpc: '2.0', id: '@', result: value }).replace('"@"', '<id>')}\n\n`)

test.each([
  ['JSON', result],
  ['event streams', asStream],
])('a list of tools in several pages is read as a whole from %s', async (_, form) => {
  const pages = [['a'], ['b', 'c'], [], ['find']]
  let at = 0
  raw.answers = {
    'tools/list': (response, id) => {
      const tools = pages[at]!.map((name) => ({ name, inputSchema: schema }))
      const answer = form({ tools, ...(++at < pages.length && { nextCursor: `page ${at}` }) })
      sendRaw(response, answer, id)
    },
  }
  expect(await call()).toEqual({ at: 'returned', isError: false, result: 'ok' })
  expect(raw.requests.flatMap(({ method, params }) => (method === 'tools/list' ? [params] : []))).toMatchObject([
    {},
    { cursor: 'page 1' },
    { cursor: 'page 2' },
    { cursor: 'page 3' },
  ])
})

test.each([
  ['JSON', result],
  ['event streams', asStream],
])('a list of tools whose pages lead to each other ends where it begins again, in %s', async (_, form) => {
  raw.answers = { 'tools/list': form({ tools: [good], nextCursor: 'again' }) }
  expect(await call('other')).toEqual({
    at: 'not_sent',
    code: 'refused',
    error:
      'MCP server "s" has no tool "other". Tool "find" is listed twice; only the first is used. Its list of tools goes round: a page leads to one before it.',
  })
  expect(raw.requests.filter(({ method }) => method === 'tools/list')).toHaveLength(2)
})

test.each([
  ['no list', 'tools/list', {}, 'it answers "tools/list" without a list of tools.'],
  [
    'an unknown version',
    'initialize',
    { protocolVersion: '1999-01-01' },
    'it speaks protocol version "1999-01-01", which svc does not.',
  ],
  ['no version', 'initialize', {}, 'it answers "initialize" without a protocolVersion: {}'],
])('%s on an event stream is what the server does wrong, said at once', async (_, method, value, said) => {
  raw.answers = { [method]: asStream(value) }
  expect(await call()).toEqual({ at: 'not_sent', code: 'refused', error: `MCP server "s" cannot be used: ${said}` })
})

test.each(LISTS)('a list of tools with %s keeps the others', async (_, listed, names, problems) => {
  raw.answers = { 'tools/list': { result: listed } }
  const { listMcpTools } = await import('../../src/tools/mcp/mcp-listing.ts')
  const { createTransport } = await import('../../src/base/net/transport.ts')
  const listing = await listMcpTools(
    { id: 'acme.desk', secrets: {} },
    { name: 's', url: raw.url },
    {
      env: {},
      fetch: createTransport({ keepAlive: false }),
      version: '0',
      redactor: createRedactor(),
      timeoutMs: 5000,
    },
  )
  if ('problem' in listing) throw new Error(listing.problem)
  expect([...listing.tools.keys()]).toEqual(names)
  expect(listing.faults.map(({ problem }) => problem)).toEqual(problems)
  expect(await call()).toEqual({ at: 'returned', isError: false, result: 'ok' })
})

test('a bound tool that cannot be read is named, with what is wrong', async () => {
  raw.answers = { 'tools/list': { result: list({ name: 'bad', inputSchema: 5 }) } }
  expect(await call('bad')).toEqual({
    at: 'not_sent',
    code: 'refused',
    error: 'MCP server "s": Tool "bad" is left out: its inputSchema is no object.',
  })
})

const NO_LIST: readonly [string, RawAnswer, string][] = [
  ['no list', result({}), 'it answers "tools/list" without a list of tools.'],
  ['a list that is an object', result({ tools: { find: good } }), 'it answers "tools/list" without a list of tools.'],
  ['a page', { type: 'text/html', body: '<h1>Hello</h1>' }, 'it answers "tools/list" with what is not JSON.'],
]

test.each(NO_LIST)('%s in place of the tools is what the server does wrong, and no outage', async (_, answer, said) => {
  raw.answers = { 'tools/list': answer }
  expect(await call()).toEqual({ at: 'not_sent', code: 'refused', error: `MCP server "s" cannot be used: ${said}` })
})

const discovered = (value: unknown): Readonly<Record<string, RawAnswer>> => ({ 'server/discover': result(value) })
const initialized = (more: object): Readonly<Record<string, RawAnswer>> => ({
  initialize: result({ ...RAW_INITIALIZED, ...more }),
})

const HANDSHAKES: readonly [string, Readonly<Record<string, RawAnswer>>][] = [
  ['404', { 'server/discover': { status: 404, body: 'no' } }],
  ['403', { 'server/discover': { status: 403, body: 'no' } }],
  ['500', { 'server/discover': { status: 500, body: 'no' } }],
  ['502 with a page', { 'server/discover': { status: 502, type: 'text/html', body: '<h1>no</h1>' } }],
  ['nothing', { 'server/discover': { body: '' } }],
  ['204', { 'server/discover': { status: 204, body: '' } }],
  ['202', { 'server/discover': { status: 202, body: '' } }],
  ['a page', { 'server/discover': { type: 'text/html', body: '<h1>Hello</h1>' } }],
  ['an empty result', discovered({})],
  ['a result null', discovered(null)],
  ['a result that is text', discovered('ok')],
  ['versions that are text', discovered({ supportedVersions: '2026-07-28' })],
  ['the result of the older handshake', discovered(RAW_INITIALIZED)],
  ['an error without a code', { 'server/discover': { body: '{"jsonrpc":"2.0","id":<id>,"error":{}}' } }],
  ['an error that is text', { 'server/discover': { body: '{"jsonrpc":"2.0","id":<id>,"error":"no"}' } }],
  ['an empty event stream', { 'server/discover': events('') }],
  ['an event stream of something else', { 'server/discover': events('data: hello\n\n') }],
  ['more than svc reads', { 'server/discover': { body: 'x'.repeat(5 * 1024 * 1024) } }],
  ['an initialize without serverInfo', initialized({ serverInfo: undefined })],
  ['a serverInfo without a version', initialized({ serverInfo: { name: 'x' } })],
  ['capabilities null', initialized({ capabilities: null })],
  ['no capability for tools', initialized({ capabilities: {} })],
  ['capabilities that are true', initialized({ capabilities: { tools: true } })],
  ['instructions null', initialized({ instructions: null })],
  ['an initialized notification that is refused', { 'notifications/initialized': { status: 400, body: 'no' } }],
  ['an initialized notification with an answer', { 'notifications/initialized': { body: '{}' } }],
]

test.each(HANDSHAKES)('a handshake with %s', async (_, answers) => {
  raw.answers = answers
  expect(await call()).toEqual({ at: 'returned', isError: false, result: 'ok' })
})

test('a server that does not answer the newest handshake is asked in the older one, within the time of the call', async () => {
  raw.answers = { 'server/discover': () => {} }
  toolbox = toolboxWith({}, {})
  const started = performance.now()
  expect(await call()).toEqual({ at: 'returned', isError: false, result: 'ok' })
  expect(performance.now() - started).toBeLessThan(15_000)
})

const NO_HANDSHAKE: readonly [string, RawAnswer, string][] = [
  [
    'a page',
    { type: 'text/html', body: '<h1>Hello</h1>' },
    'cannot be used: it answers "initialize" with what is not JSON: "<h1>Hello</h1>"',
  ],
  ['nothing', { body: '' }, 'cannot be used: it answers "initialize" with what is empty: ""'],
  ['an empty result', result({}), 'cannot be used: it answers "initialize" without a protocolVersion: {}'],
  [
    'an unknown revision',
    result({ ...RAW_INITIALIZED, protocolVersion: '1999-01-01' }),
    'cannot be used: it speaks protocol version "1999-01-01", which svc does not.',
  ],
  ['an error', message({ error: { code: -32600, message: 'Not today.' } }), 'refused: Not today.'],
]

test.each(NO_HANDSHAKE)(
  '%s in place of the handshake is what the server does wrong, and no outage',
  async (_, answer, said) => {
    raw.answers = { initialize: answer }
    expect(await call()).toEqual({ at: 'not_sent', code: 'refused', error: `MCP server "s" ${said}` })
  },
)

test('the log names each tool that a server lists wrongly, once for each list', async () => {
  const written: object[] = []
  await toolbox.close()
  toolbox = toolboxWith(
    {},
    { log: { write: (level, about, values) => void written.push({ level, message: about, ...values }) } },
  )
  const listed = [{ name: 'find', inputSchema: { type: 'object' } }, { name: 'bad', inputSchema: 7 }, null]
  const callIn = (id: string): Promise<object> =>
    call('find', {}, { run: { id, sessionId: 's', agent: 'acme.desk', version: '1.2.0' } })
  raw.answers = { 'tools/list': result({ tools: listed }) }
  await callIn('run-1')
  await callIn('run-2')
  const line = { level: 'warn', message: 'An MCP server lists tools that cannot be used.', server: 's' }
  const problems = [
    'Tool "bad" is left out: its inputSchema is no object.',
    'Entry 3 of its list of tools is left out: it is no object.',
  ]
  expect(written).toEqual([{ ...line, faults: 2, problems }])
  raw.answers = { 'tools/list': result({ tools: listed.slice(0, 2) }) }
  await callIn('run-3')
  expect(written.slice(1)).toEqual([{ ...line, faults: 1, problems: problems.slice(0, 1) }])
})
