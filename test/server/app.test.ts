import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import { agentIdOf, isUuid } from '../../src/base/ids.ts'
import { verifies } from '../api/verifies.ts'
import { openFixture, versionOf } from './fixtures.ts'

const DESK = 'acme.refund-desk'
const UNKNOWN = '019f0000-0000-7000-8000-000000000000'

/** One agent with a key, the usual case. */
async function desk(given: Parameters<typeof openFixture>[0] = {}) {
  const fixture = openFixture(given)
  const agentId = await fixture.deploy(DESK)
  const { secret: key, triggerId, keyId } = await fixture.keyFor(DESK)
  return { ...fixture, agentId, key, triggerId, keyId, runs: `/v1/agents/${agentId}/runs` }
}

/** The body without its request id, which is a UUID and equal to the header's. */
async function problemOf(response: Response): Promise<unknown> {
  const { requestId, ...body } = (await response.json()) as { requestId: string }
  expect(isUuid(requestId)).toBe(true)
  expect(response.headers.get('x-request-id')).toBe(requestId)
  return { status: response.status, ...body }
}

verifies('start.accepted', async () => {
  const { api, key, runs, agentId, triggerId, asked } = await desk()
  const response = await api(runs, { key, json: { input: { order: 'A-1042' } } })
  expect(response.status).toBe(202)
  const body = (await response.json()) as Record<string, string>
  expect(body).toEqual({
    sessionId: body['sessionId'],
    runId: body['runId'],
    status: 'Running',
    totalTokensUsed: 0,
    output: null,
    agentId,
    triggerId,
  })
  expect([body['sessionId'], body['runId']].map((id) => isUuid(id!))).toEqual([true, true])
  expect(asked.starts).toMatchObject([
    { agentId, triggerType: 'api', triggerId, triggerName: 'api', input: { order: 'A-1042' } },
  ])
})

verifies('start.input-optional', async () => {
  const { api, key, runs, asked } = await desk()
  expect((await api(runs, { key, method: 'POST' })).status).toBe(202)
  expect((await api(runs, { key, json: {} })).status).toBe(202)
  expect(asked.starts.map(({ input }) => input)).toEqual([{}, {}])
})

test('an agent is named by its id or by its name; the answer has the id', async () => {
  const { api, key, keyFor, deploy, agentId } = await desk()
  for (const named of [agentId, agentId.toUpperCase(), DESK]) {
    const started = await api(`/v1/agents/${named}/runs`, { key, json: {} })
    expect([started.status, (await started.json()) as object]).toMatchObject([202, { agentId }])
    expect((await api(`/v1/agents/${named}/sessions`, { key })).status).toBe(200)
  }
  await deploy('acme.intake')
  const { secret: other } = await keyFor('acme.intake')
  expect((await api(`/v1/agents/${DESK}/runs`, { key: other, json: {} })).status).toBe(403)
  expect((await api('/v1/agents/acme.nobody/runs', { key, json: {} })).status).toBe(404)
})

test('ignores unknown properties of a start', async () => {
  const { api, key, runs, asked } = await desk()
  expect((await api(runs, { key, json: { input: { a: 1 }, extra: true } })).status).toBe(202)
  expect(asked.starts[0]!.input).toEqual({ a: 1 })
})

test('hands the idempotency key with the digest of the body to the engine', async () => {
  const { api, key, runs, asked } = await desk()
  await api(runs, { key, json: { input: { a: 1, b: 2 } }, headers: { 'idempotency-key': 'once' } })
  await api(runs, { key, json: { input: { b: 2, a: 1 } }, headers: { 'idempotency-key': 'once' } })
  const [first, second] = asked.starts.map(({ idempotency }) => idempotency)
  expect(first).toEqual({ key: 'once', bodyDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) })
  expect(second).toEqual(first)
})

test.each([
  ['no object', [], 'The body is not valid: must be an object.', [{ path: '', message: 'must be an object' }]],
  [
    'an input that is no object',
    { input: 'x' },
    'The body is not valid: /input must be an object.',
    [{ path: '/input', message: 'must be an object' }],
  ],
  [
    'an input of null',
    { input: null },
    'The body is not valid: /input must be an object.',
    [{ path: '/input', message: 'must be an object' }],
  ],
  [
    'a dangerous name',
    JSON.parse('{"input":{"a":{"__proto__":1}}}'),
    'The body has a property "__proto__".',
    [{ path: '/input/a/__proto__', message: 'is not allowed as a name' }],
  ],
])('refuses a start with %s', async (_what, json, error, details) => {
  const { api, key, runs } = await desk()
  expect(await problemOf(await api(runs, { key, json }))).toEqual({
    status: 400,
    code: 'validation_failed',
    error,
    details,
  })
})

test.each([
  ['{"input":', 'application/json', 400, 'invalid_json', 'The body is not valid JSON: it cannot be parsed.'],
  [
    '{"input":{}}',
    'text/plain',
    415,
    'unsupported_media_type',
    'The body must be sent as Content-Type: application/json.',
  ],
  [
    `{"input":{"a":[${'0,'.repeat(100_000)}0]}}`,
    'application/json',
    400,
    'validation_failed',
    'The body is refused: it is larger than 100,000 values (objects, lists, texts and numbers).',
  ],
  [
    `${'['.repeat(65)}${']'.repeat(65)}`,
    'application/json',
    400,
    'validation_failed',
    'The body is refused: it is nested deeper than 64 levels.',
  ],
  [
    `{"input":{"a":"${'x'.repeat(1024 * 1024)}"}}`,
    'application/json',
    413,
    'body_too_large',
    'The body is larger than 1048576 bytes.',
  ],
])('refuses the body %.20s as %s with %i', async (body, type, status, code, error) => {
  const { api, key, runs } = await desk()
  expect(await problemOf(await api(runs, { key, method: 'POST', body, headers: { 'content-type': type } }))).toEqual({
    status,
    code,
    error,
  })
})

test.each([
  ['{"input":{"n":[1,9007199254740993]}}', '/input/n/1', '9007199254740993'],
  ['{"input":{"a/b":1e400}}', '/input/a~1b', '1e400'],
  ['{"input":{"n":-1e-400}}', '/input/n', '-1e-400'],
])('refuses the body %s, whose number would be changed', async (body, path, written) => {
  const { api, key, runs } = await desk()
  const why = 'cannot be kept exactly: numbers have at most 17 digits and go to 9007199254740991; write it as text'
  expect(
    await problemOf(await api(runs, { key, method: 'POST', body, headers: { 'content-type': 'application/json' } })),
  ).toEqual({
    status: 400,
    code: 'validation_failed',
    error: `The body is refused: the number ${written} at ${path} ${why}.`,
    details: [{ path, message: `is the number ${written}, which ${why}` }],
  })
})

test('refuses a body that is packed', async () => {
  const { api, key, runs } = await desk()
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  expect(await problemOf(await api(runs, { key, method: 'POST', body: '{}', headers }))).toEqual({
    status: 415,
    code: 'unsupported_media_type',
    error: 'The body must be sent as it is, not as gzip.',
  })
})

test('accepts a media type with parameters, and a body of exactly the largest size', async () => {
  const { api, key, runs } = await desk()
  const body = `{"input":{"a":"${'x'.repeat(1024 * 1024 - 18)}"}}`
  expect(Buffer.byteLength(body)).toBe(1024 * 1024)
  expect(
    (await api(runs, { key, method: 'POST', body, headers: { 'content-type': 'application/json; charset=utf-8' } }))
      .status,
  ).toBe(202)
})

test('tells a failure of the engine by its status and code', async () => {
  const { api, key, runs, doors } = await desk()
  doors.start = () => {
    throw fail(
      'input_contract_violation',
      { agent: DESK },
      { details: [{ path: '/input/amount', message: 'must be number' }] },
    )
  }
  expect(await problemOf(await api(runs, { key, json: {} }))).toEqual({
    status: 422,
    code: 'input_contract_violation',
    error: 'The input does not match the input contract of acme.refund-desk.',
    details: [{ path: '/input/amount', message: 'must be number' }],
  })
})

test('tells nothing of a bug', async () => {
  const { api, key, runs, doors } = await desk()
  doors.start = () => {
    throw new Error('ENOENT /var/secret/place')
  }
  expect(await problemOf(await api(runs, { key, json: {} }))).toEqual({
    status: 500,
    code: 'internal',
    error: 'Something went wrong on our side.',
  })
})

test('a rate limit carries Retry-After and the limits of the trigger', async () => {
  const fixture = openFixture()
  const agentId = await fixture.deploy(DESK)
  const { secret: key } = await fixture.keyFor(DESK, { trigger: { ratePerMinute: 10, ratePerDay: 100 } })
  fixture.doors.start = () => {
    throw fail('rate_limited', { limit: '10 starts a minute' }, { retryAfterSeconds: 6 })
  }
  const response = await fixture.api(`/v1/agents/${agentId}/runs`, { key, json: {} })
  expect(response.headers.get('retry-after')).toBe('6')
  expect(response.headers.get('ratelimit')).toBe('"minute";r=0;t=6')
  expect(response.headers.get('ratelimit-policy')).toBe('"minute";q=10;w=60, "day";q=100;w=86400')
  expect(await problemOf(response)).toEqual({
    status: 429,
    code: 'rate_limited',
    error: 'Too many starts: the trigger allows 10 starts a minute.',
  })
})

verifies('auth.key-required', async () => {
  const { api, runs } = await desk()
  expect(await problemOf(await api(runs, { json: {} }))).toEqual({
    status: 401,
    code: 'missing_api_key',
    error: 'The request has no X-API-Key header.',
  })
})

test.each(['svc_nonsense', `svc_${'0'.repeat(38)}`])('does not look for a key that cannot be one: %s', async (key) => {
  const fixture = await desk()
  let queries = 0
  fixture.services.store.keyByHash = async () => {
    queries++
    return undefined
  }
  expect(await problemOf(await fixture.api(fixture.runs, { key, json: {} }))).toEqual({
    status: 401,
    code: 'invalid_api_key',
    error: 'The API key is not valid.',
  })
  expect(queries).toBe(0)
})

test('refuses a revoked and an expired key', async () => {
  const { api, operator, keyFor, clock, key, keyId, runs } = await desk()
  const short = await keyFor(DESK, { key: { expiresInSeconds: 60 } })
  expect((await api(runs, { key: short.secret, json: {} })).status).toBe(202)
  clock.wind(60_000)
  expect((await api(runs, { key: short.secret, json: {} })).status).toBe(401)
  await operator('POST /keys/:id/revoke', { id: keyId })
  expect((await api(runs, { key, json: {} })).status).toBe(401)
})

test('checks the trigger before the resource, the resource before the scope, the scope before the body', async () => {
  const { api, operator, deploy, key, triggerId, runs } = await desk()
  const other = await deploy('acme.other')
  const codeOf = async (path: string) =>
    ((await (await api(path, { key, method: 'POST', body: '{' })).json()) as { code: string }).code
  expect(await codeOf(runs)).toBe('unsupported_media_type')
  expect(await codeOf(`/v1/agents/${other}/runs`)).toBe('agent_out_of_scope')
  expect(await codeOf(`/v1/agents/${UNKNOWN}/runs`)).toBe('not_found')
  expect(await codeOf('/v1/agents/acme.nobody/runs')).toBe('not_found')
  await operator('PATCH /triggers/:id', { id: triggerId, body: { active: false } })
  expect(await codeOf(runs)).toBe('trigger_inactive')
  expect(await codeOf(`/v1/agents/${UNKNOWN}/runs`)).toBe('trigger_inactive')
})

verifies('start.scope-agent', async () => {
  const { api, deploy, key } = await desk()
  const other = await deploy('acme.other')
  expect(await problemOf(await api(`/v1/agents/${other}/runs`, { key, json: {} }))).toEqual({
    status: 403,
    code: 'agent_out_of_scope',
    error: 'The API key is scoped to another agent.',
  })
})

verifies('start.scope-trigger', async () => {
  const { api, keyFor, key, runs, asked, triggerId } = await desk()
  const second = await keyFor(DESK, { trigger: { name: 'second' } })
  await api(runs, { key, json: {} })
  await api(runs, { key: second.secret, json: {} })
  expect(asked.starts.map((start) => start.triggerId)).toEqual([triggerId, second.triggerId])
})

verifies('runs.get.scope', async () => {
  const { api, deploy, keyFor, storeRun, key, triggerId } = await desk()
  await deploy('acme.other')
  const other = await keyFor('acme.other')
  const twin = await keyFor(DESK, { trigger: { name: 'twin' } })
  const mine = await storeRun(DESK, { triggerId, child: true })
  const operators = await storeRun(DESK)
  const foreign = {
    status: 403,
    code: 'run_out_of_scope',
    error: 'The API key is scoped to another agent or trigger than this run.',
  }
  expect((await api(`/v1/runs/${mine.runId}`, { key })).status).toBe(200)
  expect((await api(`/v1/runs/${mine.runId.toUpperCase()}`, { key })).status).toBe(200)
  expect((await api(`/v1/runs/${mine.childId}`, { key })).status).toBe(200)
  expect((await api(`/v1/runs/${operators.runId}`, { key })).status).toBe(200)
  for (const { secret } of [other, twin])
    expect(await problemOf(await api(`/v1/runs/${mine.runId}`, { key: secret }))).toEqual(foreign)
  const absent = { status: 404, code: 'not_found', error: 'No such run.' }
  for (const id of [UNKNOWN, 'x', agentIdOf('acme', DESK)])
    expect(await problemOf(await api(`/v1/runs/${id}`, { key }))).toEqual(absent)
})

test('every run route judges scope alike', async () => {
  const { api, deploy, keyFor, storeRun, triggerId } = await desk()
  await deploy('acme.other')
  const { secret: key } = await keyFor('acme.other')
  const { runId } = await storeRun(DESK, { triggerId })
  const paths = ['GET ', 'GET /conversation', 'GET /stream', 'POST /input', 'POST /messages', 'POST /cancel']
  const answers = await Promise.all(
    paths.map(async (line) => {
      const [method, path] = line.split(' ') as [string, string]
      const of = async (id: string) =>
        ((await (await api(`/v1/runs/${id}${path}`, { key, method })).json()) as { code: string }).code
      return [line, await of(runId), await of(UNKNOWN)]
    }),
  )
  expect(answers).toEqual(paths.map((line) => [line, 'run_out_of_scope', 'not_found']))
})

verifies('runs.get', async () => {
  const { api, storeRun, key, triggerId, agentId } = await desk()
  const { runId, sessionId } = await storeRun(DESK, { triggerId })
  const response = await api(`/v1/runs/${runId}`, { key })
  expect(await response.json()).toEqual({
    runId,
    status: 'Running',
    output: null,
    sessionId,
    agentId,
    agentVersionId: versionOf(DESK),
    versionLabel: '1.0.0',
    totalTokensUsed: 42,
    startedAt: '2026-11-20T10:00:00.000Z',
    finishedAt: null,
    pending: [],
  })
})

verifies('sessions.list', async () => {
  const { api, storeRun, clock, key, triggerId, agentId } = await desk()
  const first = await storeRun(DESK, { triggerId, child: true })
  clock.wind(1000)
  const second = await storeRun(DESK, { status: 'Completed' })
  const response = await api(`/v1/agents/${agentId}/sessions`, { key })
  expect(response.status).toBe(200)
  const body = (await response.json()) as { items: { id: string }[]; total: number }
  expect(body.total).toBe(2)
  expect(body.items.map(({ id }) => id)).toEqual([second.sessionId, first.sessionId])
})

verifies('sessions.item', async () => {
  const { api, storeRun, key, triggerId, agentId, services } = await desk()
  const { runId, sessionId } = await storeRun(DESK, { triggerId, child: true })
  const { items } = (await (await api(`/v1/agents/${agentId}/sessions`, { key })).json()) as { items: unknown[] }
  expect(items).toEqual([
    {
      id: sessionId,
      tenantId: services.workspace.id,
      agentId,
      agentVersionId: versionOf(DESK),
      llmModel: 'script',
      triggerType: 'api',
      triggeredBy: null,
      triggerId,
      triggerName: 'api',
      status: 'Running',
      totalTokensUsed: 42,
      output: null,
      error: null,
      startedAt: '2026-11-20T10:00:00.000Z',
      finishedAt: null,
      input: { order: 'A-1042' },
      startContext: { userInput: { order: 'A-1042' }, version: '1.0.0' },
      rootRunId: runId,
      runCount: 2,
      entryRunId: runId,
    },
  ])
})

verifies('sessions.skip-take', async () => {
  const { api, storeRun, clock, key, agentId } = await desk()
  const ids: string[] = []
  for (let n = 0; n < 5; n++) {
    ids.unshift((await storeRun(DESK)).sessionId)
    clock.wind(1000)
  }
  const page = async (query: string) => {
    const { items, total } = (await (await api(`/v1/agents/${agentId}/sessions?${query}`, { key })).json()) as {
      items: { id: string }[]
      total: number
    }
    return [items.map(({ id }) => id), total]
  }
  expect(await page('skip=1&take=2')).toEqual([ids.slice(1, 3), 5])
  expect(await page('skip=4')).toEqual([ids.slice(4), 5])
  expect(await page('skip=9&take=500')).toEqual([[], 5])
  for (const far of [Number.MAX_SAFE_INTEGER, '9'.repeat(30)])
    expect(await page(`skip=${far}&take=500`)).toEqual([[], 5])
})

verifies('sessions.version', async () => {
  const { api, storeRun, deploy, key, agentId } = await desk()
  const old = await storeRun(DESK)
  await deploy(DESK, '1.1.0')
  const of = async (id: string) =>
    (await (await api(`/v1/agents/${agentId}/sessions?versionId=${id}`, { key })).json()) as {
      items: { id: string }[]
      total: number
    }
  expect((await of(versionOf(DESK))).items.map(({ id }) => id)).toEqual([old.sessionId])
  const none = { items: [], total: 0, nextCursor: null }
  expect(await of(versionOf(DESK, '1.1.0'))).toEqual(none)
  expect(await of('no-version')).toEqual(none)
})

verifies('sessions.scope', async () => {
  const { api, deploy, key } = await desk()
  const other = await deploy('acme.other')
  expect((await api(`/v1/agents/${other}/sessions`, { key })).status).toBe(403)
})

test.each([
  ['skip=-1', '/skip', 'must be an integer from 0'],
  ['skip=1.5', '/skip', 'must be an integer from 0'],
  ['take=0', '/take', 'must be an integer from 1 to 500'],
  ['take=501', '/take', 'must be an integer from 1 to 500'],
  ['take=', '/take', 'must be an integer from 1 to 500'],
])('refuses the page %s', async (query, path, message) => {
  const { api, key, agentId } = await desk()
  expect(await problemOf(await api(`/v1/agents/${agentId}/sessions?${query}`, { key }))).toEqual({
    status: 400,
    code: 'validation_failed',
    error: `The query is not valid: ${path} ${message}.`,
    details: [{ path, message }],
  })
})

test('an unknown route is 404, a known path with another method 405 with Allow', async () => {
  const { api } = await desk()
  expect(await problemOf(await api('/v2/runs/x'))).toEqual({ status: 404, code: 'not_found', error: 'No such route.' })
  expect(await problemOf(await api('/v1/runs/%zz'))).toEqual({
    status: 404,
    code: 'not_found',
    error: 'No such route.',
  })
  const refused = await api(`/v1/runs/${UNKNOWN}`, { method: 'DELETE' })
  expect(refused.headers.get('allow')).toBe('GET, HEAD')
  expect(await problemOf(refused)).toEqual({
    status: 405,
    code: 'method_not_allowed',
    error: 'DELETE is not offered here; GET and HEAD are.',
  })
  const start = await api(`/v1/agents/${UNKNOWN}/runs`)
  expect(start.headers.get('allow')).toBe('POST')
})

verifies('service.prefix', async () => {
  const { api, key, agentId, storeRun } = await desk()
  const { runId } = await storeRun(DESK)
  for (const path of [`/agents/${agentId}/runs`, `/runs/${runId}`, `/api/v1/runs/${runId}`, '/', '/openapi.json'])
    expect((await api(path, { key })).status).toBe(404)
})

test('the status line has its phrase, for those who read it', async () => {
  const fixture = openFixture()
  const lines = await Promise.all(
    [fixture.api('/v1/healthz'), fixture.api('/v2'), fixture.api('/v1/healthz', { method: 'POST' })].map(
      async (answer) => {
        const { status, statusText } = await answer
        return `${status} ${statusText}`
      },
    ),
  )
  expect(lines).toEqual(['200 OK', '404 Not Found', '405 Method Not Allowed'])
})

test('every response has its own request id and gives nothing to a browser', async () => {
  const { api, key, storeRun } = await desk()
  const { runId } = await storeRun(DESK)
  const responses = [await api(`/v1/runs/${runId}`, { key }), await api('/v1/healthz'), await api('/nowhere')]
  const ids = responses.map(({ headers }) => headers.get('x-request-id')!)
  expect(ids.every(isUuid)).toBe(true)
  expect(new Set(ids).size).toBe(3)
  expect(responses.map(({ headers }) => headers.get('access-control-allow-origin'))).toEqual([null, null, null])
})

test('health and the OpenAPI document need no key', async () => {
  const { api, services } = await desk()
  expect(await (await api('/v1/healthz')).json()).toEqual({ status: 'ready' })
  const document = (await (await api('/v1/openapi.json')).json()) as { openapi: string; paths: Record<string, unknown> }
  expect(document.openapi).toBe('3.1.0')
  expect(Object.keys(document.paths)).toEqual([
    '/v1/agents/{agentId}/runs',
    '/v1/agents/{agentId}/sessions',
    '/v1/runs/{runId}',
    '/v1/runs/{runId}/conversation',
    '/v1/runs/{runId}/stream',
    '/v1/runs/{runId}/input',
    '/v1/runs/{runId}/messages',
    '/v1/file-library/presign',
    '/v1/file-library/finalize',
    '/v1/runs/{runId}/cancel',
    '/v1/runs/{runId}/signals/{name}',
    '/v1/completions/{token}',
    '/v1/sessions/{sessionId}',
    '/v1/runs/{runId}/values/{digest}',
    '/v1/tasks',
    '/v1/tasks/{taskId}',
    '/v1/openapi.json',
    '/v1/healthz',
  ])
  services.serverState.closing = true
  expect((await api('/v1/healthz')).status).toBe(200)
  const refused = await api('/v1/openapi.json')
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await problemOf(refused)).toEqual({
    status: 503,
    code: 'shutting_down',
    error: 'The server is shutting down.',
  })
})

test('refuses an Origin that is not configured, and a Host that is no loopback name on a loopback listener', async () => {
  const rules = { loopback: true, hosts: ['desk.internal'], origins: ['https://desk.example'] }
  const { api } = await desk({ rules })
  const statusOf = async (headers: Record<string, string>) =>
    (await api('/v1/healthz', { headers: { host: 'localhost', ...headers } })).status
  expect(await statusOf({ origin: 'https://desk.example' })).toBe(200)
  expect(await statusOf({ origin: 'https://evil.example' })).toBe(403)
  expect(await statusOf({ origin: 'null' })).toBe(403)
  const hosts = [
    'localhost',
    'localhost:4310',
    'LOCALHOST',
    '127.0.0.1',
    '127.0.0.2:80',
    '[::1]:4310',
    'desk.internal:4310',
  ]
  for (const host of hosts) expect([host, await statusOf({ host })]).toEqual([host, 200])
  const foreign = [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '10.0.0.1',
    '[::2]',
    'a@localhost',
    '',
  ]
  for (const host of foreign) expect([host, await statusOf({ host })]).toEqual([host, 403])
})

test('cancels with a reason, and without a body', async () => {
  const { api, storeRun, key, asked } = await desk()
  const { runId } = await storeRun(DESK)
  const first = await api(`/v1/runs/${runId}/cancel`, { key, json: { reason: 'duplicate' } })
  expect([first.status, await first.json()]).toEqual([202, { runId, status: 'Cancelled' }])
  expect((await api(`/v1/runs/${runId}/cancel`, { key, method: 'POST' })).status).toBe(202)
  expect(asked.cancels).toEqual([
    { runId, reason: 'duplicate' },
    { runId, reason: undefined },
  ])
})
