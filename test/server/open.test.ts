import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openOperator, openServer } from '../../src/server/open.ts'
import type { Conversation, RunStatusBody, StartRunResponse } from '../../src/spec/api.ts'
import { verifies } from '../api/verifies.ts'
import { ask, caller, closing, DESK, directory, options, publishDesk, taskOf } from './running.ts'
import { findFreePort } from '../free-port.ts'

verifies('states.hitl-flow', async () => {
  const server = await openServer(options())
  closing(() => server.close())
  const { agentId, secret } = await publishDesk(server.operator)
  const { get, post, events, until } = caller(server.url, secret)

  const started = await post<StartRunResponse>(`/v1/agents/${agentId}/runs`, {
    input: { order: 'A-1042', amount: 180 },
  })
  const { runId } = started.body
  expect(started).toMatchObject({ status: 202, body: { status: 'Running', totalTokensUsed: 0, output: null } })

  const paused = await until(runId, 'engine.session.paused')
  expect(await get<RunStatusBody>(`/v1/runs/${runId}`)).toMatchObject({ status: 'WaitingForHITL', output: null })

  const waiting = await get<Conversation>(`/v1/runs/${runId}/conversation`)
  const answered = await post(`/v1/runs/${runId}/messages`, { runId, userTaskId: taskOf(waiting), approved: true })
  expect(answered).toMatchObject({ status: 202, body: { userTaskId: taskOf(waiting) } })

  await until(runId, 'engine.session.completed', paused)
  expect(await get<RunStatusBody>(`/v1/runs/${runId}`)).toMatchObject({
    status: 'Completed',
    output: { refunded: 180 },
  })

  const { items, session, runs } = await get<Conversation>(`/v1/runs/${runId}/conversation`)
  expect(items.map(({ type }) => type)).toEqual([
    'UserMessage',
    'Reasoning',
    'PolicyDecision',
    'ToolCall',
    'ToolResult',
    'Reasoning',
    'PolicyDecision',
    'UserTaskReq',
    'UserTaskRes',
    'ToolCall',
    'ToolResult',
    'Reasoning',
    'OutputValidation',
    'Output',
    'RunCompleted',
    'SessionCompleted',
  ])
  expect(items.map(({ ordinal }) => ordinal)).toEqual(items.map((_, index) => index + 1))
  expect([session.status, runs.map(({ status }) => status)]).toEqual(['Completed', ['Completed']])

  const all = (await events(runId)).events
  expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => index + 1))
  expect([all[0]!.subject, all.at(-1)!.subject]).toEqual(['engine.session.started', 'engine.session.completed'])
  expect((await events(runId, 5)).events).toEqual(all.slice(5))
  expect(await events(runId, all.length)).toEqual({ status: 204, events: [] })
})

test('a restart loses nothing: the paused run is answered and its stream goes on', async () => {
  const dataDirectory = directory()
  const first = await openServer(options(dataDirectory))
  const { agentId, secret } = await publishDesk(first.operator)
  const before = caller(first.url, secret)
  const { runId } = (
    await before.post<StartRunResponse>(`/v1/agents/${agentId}/runs`, { input: { order: 'A-1042', amount: 180 } })
  ).body
  const paused = await before.until(runId, 'engine.session.paused')
  await first.close()

  const second = await openServer(options(dataDirectory))
  closing(() => second.close())
  const { get, post, events, until } = caller(second.url, secret)
  expect(await get<RunStatusBody>(`/v1/runs/${runId}`)).toMatchObject({ status: 'WaitingForHITL' })
  const userTaskId = taskOf(await get<Conversation>(`/v1/runs/${runId}/conversation`))
  await post(`/v1/runs/${runId}/messages`, { runId, userTaskId })
  await until(runId, 'engine.session.completed', paused)
  const all = (await events(runId)).events
  expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => index + 1))
  expect((await events(runId, paused)).events).toEqual(all.slice(paused))
})

test('the data directory is its owner’s, is held by one process, and tells where the server is', async () => {
  const dataDirectory = directory()
  const server = await openServer(options(dataDirectory))
  expect(statSync(dataDirectory).mode & 0o777).toBe(0o700)
  for (const name of ['data.db', 'server.json', 'admin.sock'])
    expect([name, statSync(join(dataDirectory, name)).mode & 0o777]).toEqual([name, 0o600])
  expect(JSON.parse(readFileSync(join(dataDirectory, 'server.json'), 'utf8'))).toEqual({
    pid: process.pid,
    url: server.url,
    uploadUrl: server.uploadUrl,
    consoleUrl: null,
    adminSocket: join(dataDirectory, 'admin.sock'),
  })
  await expect(openServer(options(dataDirectory))).rejects.toThrow('is held by another process')
  await expect(openOperator(options(dataDirectory))).rejects.toThrow('is held by another process')
  await server.close()
  expect(['server.json', 'admin.sock'].map((name) => existsSync(join(dataDirectory, name)))).toEqual([false, false])
  const operator = await openOperator(options(dataDirectory))
  expect(await ask(operator.operator, 'GET /status')).toMatchObject({ url: null, workspace: 'acme' })
  await operator.close()
})

test('what is published and keyed without a server is there for the server', async () => {
  const dataDirectory = directory()
  const house = await openOperator(options(dataDirectory))
  const { agentId, secret } = await publishDesk(house.operator)
  await house.close()
  const server = await openServer(options(dataDirectory))
  closing(() => server.close())
  const { post } = caller(server.url, secret)
  expect((await post(`/v1/agents/${agentId}/runs`, { input: { order: 'A-1042', amount: 1 } })).status).toBe(202)
})

test('an answer without a server is recorded, and carried out by the server that comes next', async () => {
  const dataDirectory = directory()
  const first = await openServer(options(dataDirectory))
  const { agentId, secret } = await publishDesk(first.operator)
  const started = await caller(first.url, secret).post<StartRunResponse>(`/v1/agents/${agentId}/runs`, {
    input: { order: 'A-1042', amount: 180 },
  })
  const { runId } = started.body
  await caller(first.url, secret).until(runId, 'engine.session.paused')
  await first.close()

  const house = await openOperator(options(dataDirectory))
  const waiting = (await ask(house.operator, `GET /v1/runs/${runId}/conversation`)) as Conversation
  const answer = { userTaskId: taskOf(waiting), approved: true }
  expect(await ask(house.operator, `POST /runs/${runId}/messages`, answer)).toMatchObject({ status: 'Running' })
  const after = (await ask(house.operator, `GET /v1/runs/${runId}/conversation`)) as Conversation
  expect(
    after.items.filter(({ type }) => type === 'ToolCall').map(({ content }) => (content as { name: string }).name),
  ).toEqual(['lookup'])
  await house.close()

  const second = await openServer(options(dataDirectory))
  closing(() => second.close())
  const { get, until } = caller(second.url, secret)
  await until(runId, 'engine.session.completed')
  expect(await get<RunStatusBody>(`/v1/runs/${runId}`)).toMatchObject({
    status: 'Completed',
    output: { refunded: 180 },
  })
})

test('a taken port leaves nothing open behind it', async () => {
  const dataDirectory = directory()
  const server = await openServer(options())
  closing(() => server.close())
  const port = Number(new URL(server.url).port)
  await expect(openServer({ ...options(dataDirectory), port })).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}: the port is taken.`,
  )
  await (await openServer(options(dataDirectory))).close()
})

test('in memory nothing is left on disk', async () => {
  // A temporary directory of its own: other tests use the system's at the same time.
  const temporary = directory()
  mkdirSync(temporary, { recursive: true })
  vi.stubEnv('TMPDIR', temporary)
  closing(() => void vi.unstubAllEnvs())
  const server = await openServer(options())
  expect(readdirSync(temporary)).toEqual([expect.stringMatching(/^svc-/)])
  await server.close()
  expect(readdirSync(temporary)).toEqual([])
})

verifies('start.input-contract', async () => {
  const server = await openServer(options())
  closing(() => server.close())
  const { agentId, secret } = await publishDesk(server.operator)
  const { post, get } = caller(server.url, secret)
  const refused = await post<{ code: string; details: unknown }>(`/v1/agents/${agentId}/runs`, {
    input: { order: 'A-1042', amount: 'much' },
  })
  expect([refused.status, refused.body.code, refused.body.details]).toEqual([
    422,
    'input_contract_violation',
    [{ path: '/input/amount', message: 'must be number' }],
  ])
  expect(await get(`/v1/agents/${agentId}/sessions`)).toEqual({ items: [], total: 0, nextCursor: null })
})

test('a replayed start answers the first body', async () => {
  const server = await openServer(options())
  closing(() => server.close())
  const { agentId, secret } = await publishDesk(server.operator)
  const start = (input: unknown) =>
    fetch(`${server.url}/v1/agents/${agentId}/runs`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json', 'idempotency-key': 'once' },
      body: JSON.stringify({ input }),
    }).then(async (response) => ({ status: response.status, body: (await response.json()) as Record<string, unknown> }))
  const input = { order: 'A-1042', amount: 1 }
  const [one, two] = await Promise.all([start(input), start(input)])
  const [first, replay] = one.body['duplicateDelivery'] ? [two, one] : [one, two]
  expect(first.body).not.toHaveProperty('duplicateDelivery')
  expect(replay).toEqual({ status: 202, body: { ...first.body, duplicateDelivery: true } })
  expect(await start({ order: 'A-1042', amount: 2 })).toMatchObject({
    status: 409,
    body: { code: 'idempotency_key_reused' },
  })
})

verifies('start.rate-limit', async () => {
  const server = await openServer(options())
  closing(() => server.close())
  const { agentId } = await publishDesk(server.operator)
  const limited = await ask(server.operator, 'POST /triggers', {
    agent: DESK,
    type: 'api',
    name: 'limited',
    ratePerMinute: 2,
  }).then((): Promise<{ secret: string }> => ask(server.operator, 'POST /keys', { agent: DESK, trigger: 'limited' }))
  const { post } = caller(server.url, limited.secret)
  const input = { order: 'A-1042', amount: 1 }
  const statuses = await Promise.all(
    [1, 2, 3].map(async () => (await post(`/v1/agents/${agentId}/runs`, { input })).status),
  )
  expect(statuses.sort((a, b) => a - b)).toEqual([202, 202, 429])
})

verifies('files.put', async () => {
  const server = await openServer(options())
  closing(() => server.close())
  const { secret } = await publishDesk(server.operator, { allowUploads: true })
  const { post } = caller(server.url, secret)
  const bytes = new TextEncoder().encode('the receipt')
  const presigned = await post<{ objectKey: string; uploadUrl: string; requiredHeaders: Record<string, string> }>(
    '/v1/file-library/presign',
    {
      filename: 'receipt.txt',
      mediaType: 'text/plain',
      maxContentLength: 100,
    },
  )
  const { objectKey, uploadUrl, requiredHeaders } = presigned.body
  expect(requiredHeaders).toEqual({ 'Content-Type': 'text/plain', 'x-amz-server-side-encryption': 'AES256' })
  expect((await fetch(uploadUrl, { method: 'PUT', headers: requiredHeaders, body: bytes })).status).toBe(200)
  expect(await post('/v1/file-library/finalize', { objectKey, maxContentLength: 100 })).toEqual({
    status: 200,
    body: {
      objectKey,
      filename: objectKey.split('/').at(-1),
      mediaType: 'text/plain',
      sizeBytes: 11,
      alreadyFinalized: false,
    },
  })
})

verifies('service.upload-address', async () => {
  const server = await openServer(options())
  closing(() => server.close())
  expect(new URL(server.uploadUrl).port).not.toBe(new URL(server.url).port)
  const { secret } = await publishDesk(server.operator, { allowUploads: true })
  const { post } = caller(server.url, secret)
  const presigned = await post<{ uploadUrl: string }>('/v1/file-library/presign', {
    filename: 'a',
    mediaType: 'text/plain',
    maxContentLength: 1,
  })
  expect(new URL(presigned.body.uploadUrl).origin).toBe(new URL(server.uploadUrl).origin)
})

/** A request that names another host than the one it is sent to, as behind a name of the network or a proxy. */
const sendAs = (
  host: string,
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const { port, pathname, search } = url
    request({ host: '127.0.0.1', port, method, path: pathname + search, headers: { ...headers, host } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
      .on('error', reject)
      .end(body)
  })

test.each([
  ['the name by which it was asked, where the listeners have every name', '0.0.0.0', 'desk.lan:7', {}, 'desk.lan'],
  ['an IPv6 address by which it was asked', '0.0.0.0', '[fd00::7]', {}, '[fd00::7]'],
  [
    'the configured name, whatever it was asked by',
    '127.0.0.1',
    'localhost',
    { storage: { public_url: 'https://uploads.acme.example' } },
    'https://uploads.acme.example',
  ],
])('an upload address carries %s', async (_, host, name, config, expected) => {
  const uploadPort = await findFreePort()
  const server = await openServer({ ...options(), config: { ...options().config, ...config }, host, uploadPort })
  closing(() => server.close())
  const { secret } = await publishDesk(server.operator, { allowUploads: true })
  const ask = { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 }
  const library = (route: string, body: object) =>
    sendAs(
      name,
      'POST',
      new URL(`/v1/file-library/${route}`, server.url.replace('0.0.0.0', '127.0.0.1')),
      { 'x-api-key': secret, 'content-type': 'application/json' },
      JSON.stringify(body),
    ).then(({ text }) => JSON.parse(text))
  const { uploadUrl, requiredHeaders, objectKey } = await library('presign', ask)
  const address = new URL(uploadUrl)
  expect(address.origin).toBe(expected.startsWith('https') ? expected : `http://${expected}:${uploadPort}`)
  // The signature covers the name: whoever stands before the storage passes it on.
  const local = new URL(address.pathname + address.search, `http://127.0.0.1:${uploadPort}`)
  expect((await sendAs(address.host, 'PUT', local, requiredHeaders, 'hello')).status).toBe(200)
  expect((await sendAs('other.example', 'PUT', local, requiredHeaders, 'hello')).status).toBe(403)
  expect(await library('finalize', { objectKey, maxContentLength: 5 })).toMatchObject({ sizeBytes: 5 })
})
