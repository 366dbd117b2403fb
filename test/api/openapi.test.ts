/** The document of the interface against the interface. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../../src/base/failure.ts'
import { SvcClient } from '../../clients/typescript/src/index.ts'
import { createApp, listApiRoutes } from '../../src/server/app.ts'
import { identifyByKey } from '../../src/server/auth/auth.ts'
import { openRuntime } from '../../src/server/runtime/runtime.ts'
import { createOperatorApp } from '../../src/server/operator-app.ts'
import { parseCancel, parseFinalize, parseMessage, parsePresign, parseStart } from '../../src/server/http/validate.ts'
import type { Conversation } from '../../src/spec/api.ts'
import { openFixture as openTestFixture } from '../server/fixtures.ts'
import { closing, desk, options, publishDesk, running, taskOf } from '../server/running.ts'
import { closedSchemaOf, faultsOf, operations, schemaOf } from './document.ts'

const UNKNOWN = '019f0000-0000-7000-8000-000000000000'

test('has every route, and no other', () => {
  const lines = listApiRoutes(openTestFixture().services, identifyByKey).map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  )
  expect([...operations.keys()].toSorted()).toEqual(lines.toSorted())
})

test('every operation has an id of its own, and needs a key unless it gives no data', () => {
  const ids = [...operations.values()].map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  const without = [...operations].filter(([, { security }]) => security?.length === 0).map(([line]) => line)
  expect(without.toSorted()).toEqual([
    'GET /v1/healthz',
    'GET /v1/openapi.json',
    // The token in the path is the authority.
    'POST /v1/completions/{token}',
  ])
})

test('content of a step and data of an event are judged by their type, to the last property', () => {
  const item = { runId: UNKNOWN, id: UNKNOWN, sequence: 1, ordinal: 1, tokensUsed: null, error: null }
  const times = { startedAt: null, finishedAt: null }
  const output = { ...item, ...times, type: 'Output', content: { step_kind: 'Output', output: 1 } }
  const isItem = closedSchemaOf('TimelineItem')
  expect(isItem(output)).toBe(true)
  expect(isItem({ ...output, content: { ...output.content, extra: 1 } })).toBe(false)
  expect(isItem({ ...output, content: { step_kind: 'Output', text: '' } })).toBe(false)
  expect(isItem({ ...output, type: 'ToolCall' })).toBe(false)
  const data = { sessionId: UNKNOWN, runId: UNKNOWN, step: output }
  const event = { ts: '2026-11-20T10:00:00.000Z', kind: 'step', subject: 'engine.step.completed', data }
  const isEvent = closedSchemaOf('StreamEvent')
  expect(isEvent(event)).toBe(true)
  expect(isEvent({ ...event, kind: 'run' })).toBe(false)
  expect(isEvent({ ...event, subject: 'engine.step.delta' })).toBe(false)
  expect(isEvent({ ...event, data: { ...data, step: { ...output, type: 'Reasoning' } } })).toBe(false)
})

test('every answer of a whole journey is in it', async () => {
  const { server, secret, agentId } = await running({ key: { allowUploads: true } })
  const seen: string[] = []
  const faults: unknown[] = []
  const client = new SvcClient({
    apiKey: secret,
    baseUrl: server.url,
    maxRetries: 0,
    async fetch(input, init) {
      const response = await fetch(input, init as RequestInit)
      const { origin, pathname, search } = new URL(input)
      if (origin !== server.url) return response
      const method = init?.method ?? 'GET'
      seen.push(`${method} ${pathname.replaceAll(/[0-9a-f-]{36}/g, '*')} ${response.status}`)
      if (pathname.endsWith('/stream')) return response
      for (const fault of await faultsOf(method, pathname + search, response)) faults.push([seen.at(-1), fault])
      return response
    },
  })
  const order = { order: 'A-1042', amount: 180 }
  const uploaded = await client.uploadWorkspaceFile(new File(['text'], 'a.txt', { type: 'text/plain' }))
  const started = await client.startRun(agentId, { input: order }, { idempotencyKey: 'once' })
  const again = await client.startRun(agentId, { input: order }, { idempotencyKey: 'once' })
  expect([again.runId, again.duplicateDelivery]).toEqual([started.runId, true])
  for await (const event of client.streamRunEvents(started.runId)) if (event.subject === 'engine.session.paused') break
  await client.getRun(started.runId)
  const userTaskId = taskOf((await client.getConversation(started.runId)) as Conversation)
  await client.sendRunMessage(started.runId, { text: 'Not that kind of pause.' })
  await client.sendRunMessage(started.runId, { userTaskId: UNKNOWN })
  await client.sendRunMessage(started.runId, { userTaskId, approved: true }, { path: 'input' })
  for await (const _ of client.streamRunEvents(started.runId));
  await client.sendRunMessage(started.runId, { userTaskId, approved: true })
  await client.getRun(started.runId)
  await client.getConversation(started.runId, { stepContent: 'slim' })
  await client.listSessions(agentId, { take: 1 })
  const headers = { 'x-api-key': secret }
  const call = async (method: string, path: string, init: RequestInit = {}) => {
    const response = await fetch(server.url + path, { method, headers, ...init })
    seen.push(`${method} ${path.replaceAll(/[0-9a-f-]{36}/g, '*')} ${response.status}`)
    for (const fault of await faultsOf(method, path, response)) faults.push([seen.at(-1), fault])
  }
  await call('GET', `/v1/runs/${started.runId}/stream`)
  await call('GET', `/v1/runs/${started.runId}/stream?after=100000`)
  const { lastSeq } = (await server.store.session(started.sessionId as never))!
  await call('GET', `/v1/runs/${started.runId}/stream?after=${lastSeq}`)
  await call('POST', `/v1/runs/${started.runId}/cancel`)
  await call('POST', `/v1/agents/${agentId}/runs`, { body: '{"input":{}}', headers: { ...headers, ...JSON_TYPE } })
  await call('POST', `/v1/agents/${agentId}/runs`, { body: '{}' })
  await call('GET', '/v1/openapi.json')
  await call('GET', '/v1/healthz')
  await call('HEAD', `/v1/runs/${started.runId}`)
  await call('HEAD', `/v1/runs/${started.runId}/stream`)
  await call('DELETE', `/v1/runs/${started.runId}`)
  await call('GET', '/v2/anything')
  expect(faults).toEqual([])
  expect(uploaded.mediaType).toBe('text/plain')
  expect(seen).toEqual([
    'POST /v1/file-library/presign 200',
    'POST /v1/file-library/finalize 200',
    'POST /v1/agents/*/runs 202',
    'POST /v1/agents/*/runs 202',
    'GET /v1/runs/*/stream 200',
    'GET /v1/runs/* 200',
    'GET /v1/runs/*/conversation 200',
    'POST /v1/runs/*/messages 202',
    'POST /v1/runs/*/messages 202',
    'POST /v1/runs/*/input 202',
    'GET /v1/runs/*/stream 200',
    'POST /v1/runs/*/messages 202',
    'GET /v1/runs/* 200',
    'GET /v1/runs/*/conversation 200',
    'GET /v1/agents/*/sessions 200',
    'GET /v1/runs/*/stream 200',
    'GET /v1/runs/*/stream?after=100000 400',
    `GET /v1/runs/*/stream?after=${lastSeq} 204`,
    'POST /v1/runs/*/cancel 202',
    'POST /v1/agents/*/runs 422',
    'POST /v1/agents/*/runs 415',
    'GET /v1/openapi.json 200',
    'GET /v1/healthz 200',
    'HEAD /v1/runs/* 200',
    'HEAD /v1/runs/*/stream 200',
    'DELETE /v1/runs/* 405',
    'GET /v2/anything 404',
  ])
})

const JSON_TYPE = { 'content-type': 'application/json' }

test('10,000 bodies, paths and headers: no answer but those of the document, and none of our making', async () => {
  const runtime = await openRuntime(options(), { host: '127.0.0.1', port: 0 })
  closing(() => runtime.close(0))
  const app = createApp(runtime.services)
  const operator = createOperatorApp(runtime.services)
  const { agentId, secret } = await publishDesk(operator, { allowUploads: true }, desk)
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: string) =>
    app.request(ORIGIN + path, { method, headers, ...(body !== undefined && method === 'POST' && { body }) })
  const start = await ask('POST', `/v1/agents/${agentId}/runs`, { 'x-api-key': secret, ...JSON_TYPE }, STARTING)
  const { runId } = (await start.json()) as { runId: string }

  const id = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(runId, agentId) },
    fc.constantFrom(UNKNOWN, runId.toUpperCase(), 'x', '%00', '%zz', '..', '%2e%2e', ' ', 'a%2Fb', '\u{1f600}'),
    fc.string({ minLength: 1, maxLength: 40 }).map(encodeURIComponent),
  )
  const path = fc.oneof(
    {
      weight: 12,
      arbitrary: fc.tuple(fc.constantFrom(...operations.keys()), id).map(([line, each]) => fill(line, each)),
    },
    fc.webPath().map((each) => `GET ${each.startsWith('/') ? each : `/${each}`}`),
  )
  const method = fc.option(fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'), { freq: 8 })
  const query = fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    fc
      .dictionary(
        fc.constantFrom('skip', 'take', 'versionId', 'status', 'stepContent', 'after', 'x'),
        fc.oneof(fc.constantFrom('0', '1', '-1', '501', 'slim', 'full', '1e3', ''), fc.string({ maxLength: 20 })),
      )
      .map((each) => `?${new URLSearchParams(each)}`),
  )
  const text = fc.oneof(
    { weight: 4, arbitrary: anyBody(runId).map((each) => JSON.stringify(each)) },
    { weight: 1, arbitrary: fc.json() },
    fc.string({ maxLength: 60 }),
    fc.constantFrom(
      '',
      '{',
      '[[[[',
      '{"__proto__":{}}',
      '{"input":{"constructor":1}}',
      '\ufeff{}',
      '{"a":1,"a":2}',
      '1e999',
    ),
    fc.nat(200).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  )
  const headers = fc
    .record(
      {
        'x-api-key': fc.oneof(
          { weight: 12, arbitrary: fc.constant(secret) },
          fc.constantFrom('svc_', `${secret}0`, 'x', ''),
        ),
        'content-type': fc.oneof(
          { weight: 8, arbitrary: fc.constant('application/json') },
          fc.constantFrom('text/plain', 'application/json; charset=utf-16', '', 'multipart/form-data'),
        ),
        'last-event-id': fc.constantFrom('0', '1', 'x', '99999999999999999999'),
        'idempotency-key': fc.oneof(
          fc.constantFrom('a', 'b', '', 'x'.repeat(256)),
          fc.string({ unit: 'grapheme-ascii' }),
        ),
        origin: fc.constantFrom('null', 'https://evil.example'),
        'x-forwarded-for': fc.constantFrom('10.0.0.1', ',,,', 'x'),
      },
      { requiredKeys: ['x-api-key', 'content-type'] },
    )
    .map(({ origin, ...each }) => ({
      ...each,
      ...(origin !== undefined && Object.keys(each).length > 4 && { origin }),
    }))
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(path, method, query, headers, text, async (line, other, search, sent, body) => {
      const [usual, where] = line.split(/ (.*)/s) as [string, string]
      const response = await ask(other ?? usual, where + search, sent as Record<string, string>, body)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      // A stream of a run that waits does not end by itself.
      const open = response.headers.get('content-type') === 'text/event-stream'
      if (open) await response.body?.cancel()
      const faults = open ? [] : await faultsOf(other ?? usual, new URL(ORIGIN + where).pathname, response)
      expect([response.status < 500, faults]).toEqual([true, []])
    }),
    { numRuns: 10_000 },
  )
  // The fuzzer reaches far: what it is answered is not one refusal.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 202, 400, 401, 403, 404, 405, 415, 422]))
}, 180_000)

const ORIGIN = 'http://svc.test'
const STARTING = JSON.stringify({ input: { order: 'A-1042', amount: 180 } })
const fill = (line: string, id: string) => line.replace(/\{\w+\}/, id)

const junk = fc.oneof(
  fc.constantFrom(null, true, false, '', 0, -1, 1.5, 1e300, {}, []),
  fc.string({ maxLength: 10 }),
  fc.jsonValue({ maxDepth: 3 }),
)
/** An object of these properties, each of which may be absent or odd, and others. */
const body = (properties: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc
    .tuple(
      fc.record(
        Object.fromEntries(
          Object.entries(properties).map(([name, good]) => [
            name,
            fc.oneof({ weight: 19, arbitrary: good }, { weight: 1, arbitrary: junk }),
          ]),
        ),
        { requiredKeys: [] },
      ),
      fc.oneof(
        { weight: 6, arbitrary: fc.constant({}) },
        fc.dictionary(fc.string({ maxLength: 8 }), junk, { maxKeys: 2 }),
      ),
    )
    .map(([known, others]) => ({ ...others, ...known }))
const words = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', 'a', 'x'.repeat(255), 'x'.repeat(256), '\u{1f600}'.repeat(255), '\u{1f600}'.repeat(256)),
)
const mediaType = fc.constantFrom(
  'text/plain',
  'image/png',
  'a/b; c=d',
  'a/b;c="d e"',
  'text',
  'a/b/c',
  'a/b;c',
  '',
  ' a/b',
)
const size = fc.constantFrom(1, 100, 0, -1, 1.5, 2 ** 53, 2 ** 53 - 1, 1e300)
const file = body({ svcFile: fc.constant(true), objectKey: words, filename: words, mediaType: words })
const start = body({ input: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 })) })
const presign = body({ filename: words, mediaType, maxContentLength: size })
const finalize = body({ objectKey: words, maxContentLength: size, filename: words, mediaType: words })
const cancel = body({ reason: fc.oneof(words, fc.constantFrom('x'.repeat(2000), 'x'.repeat(2001))) })
const message = (runId: string) =>
  body({
    runId: fc.constantFrom(runId, runId, runId, runId.toUpperCase(), UNKNOWN),
    userTaskId: fc.constantFrom(UNKNOWN, 'x'),
    approved: fc.boolean(),
    selectedOptionId: words,
    textValue: words,
    numberValue: fc.double({ noNaN: true, noDefaultInfinity: true }),
    metadata: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 })),
    text: words,
    message: words,
    files: fc.array(file, { maxLength: 2 }),
    completedByEmail: fc.constantFrom('!@!', 'ana@acme.example', 'nobody', 'a@b@c', ''),
  })
const anyBody = (runId: string) => fc.oneof(start, presign, finalize, cancel, message(runId), junk)

/** True when the parser takes the body. */
function takes(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch (error) {
    if (error instanceof Failure && error.code === 'validation_failed') return false
    throw error
  }
}

test.each<[string, fc.Arbitrary<unknown>, (body: unknown) => unknown]>([
  ['StartRunBody', start, parseStart],
  ['PresignBody', presign, parsePresign],
  ['FinalizeBody', finalize, parseFinalize],
  ['CancelBody', cancel, parseCancel],
])('%s: the server takes what the document allows, and nothing else', (name, given, parse) => {
  const validate = schemaOf(name)
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: given }, junk), (value) => {
      expect(takes(() => parse(value))).toBe(validate(value))
    }),
    { numRuns: 2000 },
  )
})

test('MessageBody: the server takes what the document and its three rules allow, and nothing else', () => {
  const validate = schemaOf('MessageBody')
  const allowed = (value: unknown): boolean => {
    if (!validate(value)) return false
    const { runId, userTaskId, text, message: alias, files = [] } = value as Record<string, string> & { files?: [] }
    const something = userTaskId !== undefined || Boolean(text) || Boolean(alias) || files.length > 0
    return runId!.toLowerCase() === RUN && something && !(userTaskId !== undefined && files.length > 0)
  }
  let taken = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: message(RUN) }, junk), (value) => {
      const expected = allowed(value)
      if (expected) taken++
      expect(takes(() => parseMessage(value, RUN))).toBe(expected)
    }),
    { numRuns: 5000 },
  )
  expect(taken).toBeGreaterThan(100)
})

const RUN = '3f2a9100-0000-7000-8000-000000000002'
