import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFile } from 'node:fs/promises'
import { afterEach, expect, expectTypeOf, test, vi } from 'vitest'
import {
  isNotFound,
  SvcClient,
  SvcConnectionError,
  SvcError,
  SvcTimeoutError,
  type ConversationResponse,
  type ConversationRunSummary,
  type ConversationSession,
  type ConversationTimelineItem,
  type UserTaskReqContent,
} from '../../clients/typescript/src/index.ts'
import { verifies } from '../api/verifies.ts'
import { busy, fakeFetch, json, type Answer } from './fake-fetch.ts'

const AGENT = '0d6f0000-0000-5000-8000-000000000001'
const RUN = '3f2a9100-0000-7000-8000-000000000002'
const BASE = 'http://svc.test'

const clientOf = (...answers: Answer[]) => {
  const { fetch, sent } = fakeFetch(...answers)
  return { client: new SvcClient({ apiKey: 'svc_test', baseUrl: BASE, fetch }), sent }
}

afterEach(() => vi.useRealTimers())

verifies('client.methods', () => {
  expect(Object.getOwnPropertyNames(SvcClient.prototype).toSorted()).toEqual([
    'constructor',
    'finalizeFile',
    'getConversation',
    'getRun',
    'listSessions',
    'presignFile',
    'sendRunMessage',
    'startRun',
    'streamRunEvents',
    'uploadWorkspaceFile',
  ])
})

test('has no enumerable state, so that printing a client shows no key', () => {
  const { client } = clientOf(json({}))
  expect(Object.keys(client)).toEqual([])
  expect(JSON.stringify(client)).toBe('{}')
})

test.each([
  [
    'startRun',
    (c: SvcClient) => c.startRun(AGENT, { input: { a: 1 } }),
    'POST',
    `/v1/agents/${AGENT}/runs`,
    { input: { a: 1 } },
  ],
  ['startRun without a body', (c: SvcClient) => c.startRun(AGENT), 'POST', `/v1/agents/${AGENT}/runs`, {}],
  ['listSessions', (c: SvcClient) => c.listSessions(AGENT), 'GET', `/v1/agents/${AGENT}/sessions`, undefined],
  [
    'listSessions with a page',
    (c: SvcClient) => c.listSessions(AGENT, { skip: 0, take: 5, versionId: 'v' }),
    'GET',
    `/v1/agents/${AGENT}/sessions?skip=0&take=5&versionId=v`,
    undefined,
  ],
  ['getRun', (c: SvcClient) => c.getRun(RUN), 'GET', `/v1/runs/${RUN}`, undefined],
  ['getConversation', (c: SvcClient) => c.getConversation(RUN), 'GET', `/v1/runs/${RUN}/conversation`, undefined],
  [
    'getConversation, slim',
    (c: SvcClient) => c.getConversation(RUN, { stepContent: 'slim' }),
    'GET',
    `/v1/runs/${RUN}/conversation?stepContent=slim`,
    undefined,
  ],
  [
    'sendRunMessage',
    (c: SvcClient) => c.sendRunMessage(RUN, { text: 'hi' }),
    'POST',
    `/v1/runs/${RUN}/messages`,
    { text: 'hi', runId: RUN },
  ],
  [
    'sendRunMessage by the input path',
    (c: SvcClient) => c.sendRunMessage(RUN, { text: 'hi' }, { path: 'input' }),
    'POST',
    `/v1/runs/${RUN}/input`,
    { text: 'hi', runId: RUN },
  ],
  [
    'sendRunMessage against another runId',
    (c: SvcClient) => c.sendRunMessage(RUN, { runId: 'evil', text: 'hi' }),
    'POST',
    `/v1/runs/${RUN}/messages`,
    { text: 'hi', runId: RUN },
  ],
  [
    'presignFile',
    (c: SvcClient) => c.presignFile({ filename: 'a', mediaType: 'b/c', maxContentLength: 1 }),
    'POST',
    '/v1/file-library/presign',
    { filename: 'a', mediaType: 'b/c', maxContentLength: 1 },
  ],
  [
    'finalizeFile',
    (c: SvcClient) => c.finalizeFile({ objectKey: 'k', maxContentLength: 1 }),
    'POST',
    '/v1/file-library/finalize',
    { objectKey: 'k', maxContentLength: 1 },
  ],
  ['an id with a slash', (c: SvcClient) => c.getRun('a/../b'), 'GET', '/v1/runs/a%2F..%2Fb', undefined],
])('%s', async (_, call, method, path, body) => {
  const { client, sent } = clientOf(json({ answer: true }))
  expect(await call(client)).toEqual({ answer: true })
  expect(sent).toEqual([
    {
      method,
      url: BASE + path,
      headers: {
        'x-api-key': 'svc_test',
        'x-svc-client': 'ts/0.1.0',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body,
    },
  ])
})

test('names the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const { client, sent } = clientOf(json({}))
  await client.getRun(RUN)
  expect(sent[0]!.headers['x-svc-client']).toBe(`ts/${version}`)
})

test('sends the idempotency key of a start as a header', async () => {
  const { client, sent } = clientOf(json({}))
  await client.startRun(AGENT, {}, { idempotencyKey: 'order-1' })
  expect(sent[0]!.headers['idempotency-key']).toBe('order-1')
})

verifies('client.key-header', async () => {
  const presigned = { objectKey: 'k', uploadUrl: 'http://uploads.test/k', requiredHeaders: {} }
  const { client, sent } = clientOf(json(presigned))
  await client.startRun(AGENT)
  await client.listSessions(AGENT)
  await client.getRun(RUN)
  await client.getConversation(RUN)
  await client.sendRunMessage(RUN, { text: 'hi' })
  await client.presignFile({ filename: 'a', mediaType: 'b/c', maxContentLength: 1 })
  await client.finalizeFile({ objectKey: 'k', maxContentLength: 1 })
  const events = client.streamRunEvents(RUN, { reconnect: false })
  await expect(events[Symbol.asyncIterator]().next()).rejects.toThrow('/stream answered 200')
  expect(sent.map(({ headers }) => headers['x-api-key'])).toEqual(Array.from({ length: 8 }, () => 'svc_test'))
})

verifies('client.input-path', async () => {
  const { client, sent } = clientOf(json({ status: 'Running' }))
  await client.sendRunMessage(RUN, { text: 'hi' })
  await client.sendRunMessage(RUN, { text: 'hi' }, { path: 'input' })
  await client.sendRunMessage(RUN, { text: 'hi' }, { path: 'messages' })
  expect(sent.map(({ url, body }) => [url, body])).toEqual(
    ['messages', 'input', 'messages'].map((path) => [`${BASE}/v1/runs/${RUN}/${path}`, { text: 'hi', runId: RUN }]),
  )
})

verifies('client.options', async () => {
  const { fetch, sent } = fakeFetch(json({ runId: RUN }))
  await new SvcClient({ apiKey: 'svc_test', fetch }).getRun(RUN)
  await new SvcClient({ apiKey: 'svc_test', baseUrl: 'https://svc.example', fetch }).getRun(RUN)
  expect(sent.map(({ url }) => url)).toEqual([
    `http://127.0.0.1:4310/v1/runs/${RUN}`,
    `https://svc.example/v1/runs/${RUN}`,
  ])
  expect(() => new SvcClient({ apiKey: '' })).toThrow('SvcClient needs an apiKey.')
})

verifies('client.types', () => {
  expectTypeOf<ConversationResponse['session']>().toEqualTypeOf<ConversationSession>()
  expectTypeOf<ConversationResponse['runs'][number]>().toEqualTypeOf<ConversationRunSummary>()
  expectTypeOf<ConversationResponse['items'][number]>().toEqualTypeOf<ConversationTimelineItem>()
  expectTypeOf<UserTaskReqContent['user_task_id']>().toEqualTypeOf<string>()
})

test('uses the fetch of the moment when none is given', async () => {
  const { fetch } = fakeFetch(json({ runId: RUN }))
  const client = new SvcClient({ apiKey: 'svc_test', baseUrl: `${BASE}///` })
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(fetch as typeof globalThis.fetch)
  try {
    expect(await client.getRun(RUN)).toEqual({ runId: RUN })
    expect(spy.mock.calls[0]![0]).toBe(`${BASE}/v1/runs/${RUN}`)
  } finally {
    spy.mockRestore()
  }
})

test('without a key, sends none: its fetch identifies the caller, in a browser too', async () => {
  vi.stubGlobal('window', {})
  vi.stubGlobal('document', {})
  try {
    const { fetch, sent } = fakeFetch(json({ runId: RUN }))
    await new SvcClient({ apiKey: null, fetch }).getRun(RUN)
    expect(Object.keys(sent[0]!.headers)).toEqual(['x-svc-client'])
  } finally {
    vi.unstubAllGlobals()
  }
})

test('refuses to be made without anything that identifies the caller', () => {
  for (const apiKey of ['', undefined])
    // @ts-expect-error a variable of the environment that is not set
    expect(() => new SvcClient({ apiKey, fetch })).toThrow('SvcClient needs an apiKey.')
  // @ts-expect-error the global fetch identifies nobody
  expect(() => new SvcClient({ apiKey: null })).toThrow('SvcClient needs an apiKey.')
})

test('refuses to be made without a key, with an odd address, and in a browser', () => {
  expect(() => new SvcClient({ apiKey: '' })).toThrow('SvcClient needs an apiKey.')
  expect(() => new SvcClient({ apiKey: 'k', baseUrl: 'svc.test' })).toThrow(
    'baseUrl must begin with http:// or https://: svc.test',
  )
  vi.stubGlobal('window', {})
  vi.stubGlobal('document', {})
  try {
    expect(() => new SvcClient({ apiKey: 'k' })).toThrow('SvcClient is for backends')
    expect(() => new SvcClient({ apiKey: 'k', dangerouslyAllowBrowser: true })).not.toThrow()
  } finally {
    vi.unstubAllGlobals()
  }
})

verifies('client.error', async () => {
  const body = JSON.stringify({
    error: 'The input does not match.',
    code: 'input_contract_violation',
    details: [{ path: '/input/amount', message: 'must be number' }],
    requestId: 'req-7',
  })
  const { client } = clientOf(new Response(body, { status: 422 }))
  const error = await client.startRun(AGENT).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SvcError)
  expect(error).toMatchObject({
    name: 'SvcError',
    status: 422,
    path: `/v1/agents/${AGENT}/runs`,
    body,
    code: 'input_contract_violation',
    requestId: 'req-7',
    message: `POST /v1/agents/${AGENT}/runs answered 422: The input does not match. (input_contract_violation, request req-7)`,
  })
})

test('keeps a body that is no JSON, and the request id of the header', async () => {
  const { client } = clientOf(new Response('<h1>Not Found</h1>', { status: 404, headers: { 'x-request-id': 'req-9' } }))
  const error = await client.getRun(RUN).catch((thrown: unknown) => thrown)
  expect(isNotFound(error)).toBe(true)
  expect(error).toMatchObject({ body: '<h1>Not Found</h1>', code: undefined, requestId: 'req-9' })
})

const refused = Object.assign(new TypeError('fetch failed'), {
  cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
})
const get = (client: SvcClient) => client.getRun(RUN)
const post = (client: SvcClient) => client.startRun(AGENT)
const postOnce = (client: SvcClient) => client.startRun(AGENT, {}, { idempotencyKey: 'k' })

test.each([
  ['GET, 503 twice', get, [busy(503), busy(503), json({})], 3],
  ['GET, 500', get, [busy(500), json({})], 2],
  ['GET, 408', get, [busy(408), json({})], 2],
  ['GET, 429', get, [busy(429), json({})], 2],
  ['POST, 503', post, [busy(503), json({})], 2],
  ['POST, 429', post, [busy(429), json({})], 2],
])('sends again: %s', async (_, call, answers, attempts) => {
  const { client, sent } = clientOf(...answers)
  await call(client)
  expect(sent.length).toBe(attempts)
})

test.each([
  ['GET, 404', get, busy(404), 1],
  ['GET, 500 for ever', get, busy(500), 3],
  ['POST, 500', post, busy(500), 1],
  ['POST, 502 with an idempotency key', postOnce, busy(502), 1],
  ['POST, 408', post, busy(408), 1],
  ['POST, broken connection', post, refused, 1],
])('gives up: %s', async (_, call, answer, attempts) => {
  const { client, sent } = clientOf(answer)
  await expect(call(client)).rejects.toThrow(/answered [45]|ECONNREFUSED/)
  expect(sent.length).toBe(attempts)
})

test.each([
  ['a GET', get],
  ['a POST with an idempotency key', postOnce],
])('tries a refused connection again for %s, waiting longer each time', async (_, call) => {
  vi.useFakeTimers()
  const { client, sent } = clientOf(refused)
  const failed = call(client).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(0)
  expect(sent.length).toBe(1)
  await vi.advanceTimersByTimeAsync(500)
  expect(sent.length).toBe(2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(String(await failed)).toMatch(
    /^SvcConnectionError: No answer from http:\/\/svc\.test\/v1\/.*: ECONNREFUSED\.$/,
  )
  expect(sent.length).toBe(3)
})

test('says what refused the connection', async () => {
  const { fetch } = fakeFetch(refused)
  const client = new SvcClient({ apiKey: 'k', baseUrl: BASE, fetch, maxRetries: 0 })
  const error = await client.getRun(RUN).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SvcConnectionError)
  expect(error).toMatchObject({ path: `/v1/runs/${RUN}`, cause: refused })
})

test('does not wait for a Retry-After beyond its time', async () => {
  const { client, sent } = clientOf(json({ error: 'Busy.' }, 429, { 'retry-after': '3600' }))
  await expect(client.getRun(RUN)).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 })
  expect(sent.length).toBe(1)
})

test('waits for no Retry-After that is longer than the caller wants', async () => {
  const { fetch, sent } = fakeFetch(json({ error: 'Full.' }, 503, { 'retry-after': '30' }), json({ runId: RUN }))
  const client = new SvcClient({ apiKey: 'k', baseUrl: BASE, fetch, maxRetryAfterMs: 5000 })
  await expect(client.getRun(RUN)).rejects.toMatchObject({ status: 503, retryAfterMs: 30_000 })
  expect(sent.length).toBe(1)
})

const never: Answer = (_, init) =>
  new Promise((_resolve, reject) => {
    const stop = () => reject(init.signal!.reason as Error)
    if (init.signal!.aborted) stop()
    init.signal!.addEventListener('abort', stop)
  })

test('ends after timeoutMs with an error of its own', async () => {
  const { client, sent } = clientOf(never)
  const error = await client.getRun(RUN, { timeoutMs: 20 }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SvcTimeoutError)
  expect(error).toMatchObject({ path: `/v1/runs/${RUN}`, timeoutMs: 20 })
  expect(sent.length).toBe(1)
})

test('throws the reason of the caller as it is', async () => {
  const { client } = clientOf(never)
  const controller = new AbortController()
  const reason = { mine: true }
  const call = client.getRun(RUN, { signal: controller.signal })
  controller.abort(reason)
  await expect(call).rejects.toBe(reason)
  await expect(client.getRun(RUN, { signal: controller.signal })).rejects.toBe(reason)
})

test('tells hooks of each attempt, without the key', async () => {
  const { fetch } = fakeFetch(busy(503), json({}, 200, { 'x-request-id': 'req-2' }))
  const told: unknown[] = []
  const client = new SvcClient({
    apiKey: 'svc_secret',
    baseUrl: BASE,
    fetch,
    onRequest: (request) => told.push(request),
    onResponse: (response) => told.push({ ...response, durationMs: 0 }),
  })
  await client.getRun(RUN)
  const url = `${BASE}/v1/runs/${RUN}`
  expect(told).toEqual([
    { method: 'GET', url, attempt: 1 },
    { method: 'GET', url, attempt: 1, status: 503, requestId: undefined, durationMs: 0 },
    { method: 'GET', url, attempt: 2 },
    { method: 'GET', url, attempt: 2, status: 200, requestId: 'req-2', durationMs: 0 },
  ])
})

test('follows no redirect, which would carry the key to another host', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(307, { location: `http://127.0.0.1:${port}/elsewhere` }).end()
  })
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  const client = new SvcClient({ apiKey: 'svc_test', baseUrl: `http://127.0.0.1:${port}` })
  try {
    await expect(client.getRun('r')).rejects.toMatchObject({ name: 'SvcError', status: 307, path: '/v1/runs/r' })
    await expect(client.streamRunEvents('r')[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 307 })
    expect(asked).toEqual(['/v1/runs/r', '/v1/runs/r/stream'])
  } finally {
    server.close()
  }
})
