/** `Prefer: wait=SECONDS`: one request instead of a start and a poll. */
import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import { parseWait } from '../../src/server/routes/prefer-wait.ts'
import type { Conversation, RunStatusBody } from '../../src/spec/api.ts'
import { openFixture } from './fixtures.ts'
import { running, scripted, taskOf } from './running.ts'

const DESK = 'acme.refund-desk'

test.each([
  [null, undefined],
  ['', undefined],
  ['wait=5', 5],
  ['respond-async, wait=10', 10],
  ['WAIT = "7" ; x=y', 7],
  ['wait=61', 60],
  ['wait=999999999', 60],
  [`wait=${'9'.repeat(400)}`, 60],
  ['wait=0', 0],
  ['wait', undefined],
  ['wait=-1', undefined],
  ['wait=1.5', undefined],
  ['wait=soon', undefined],
  ['await=5', undefined],
])('Prefer: %s asks for %s seconds', (header, seconds) => {
  expect(parseWait(header)).toBe(seconds)
})

async function asked() {
  const fixture = await running()
  const send = async (method: string, path: string, prefer: string | undefined, body?: unknown) => {
    const response = await fetch(fixture.server.url + path, {
      method,
      headers: {
        'x-api-key': fixture.secret,
        'content-type': 'application/json',
        ...(prefer !== undefined && { prefer }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return {
      status: response.status,
      applied: response.headers.get('preference-applied'),
      body: (await response.json()) as RunStatusBody,
    }
  }
  return { fixture, agentId: fixture.agentId, send }
}

test('start, message and status answer when the run pauses or ends, with the body of that moment', async () => {
  const { fixture, send, agentId } = await asked()
  const started = await send('POST', `/v1/agents/${agentId}/runs`, 'wait=20', { input: { order: 'A-1', amount: 180 } })
  expect(started).toMatchObject({ status: 202, applied: 'wait=20', body: { status: 'WaitingForHITL', output: null } })
  const { runId } = started.body
  const polled = await fixture.get<RunStatusBody>(`/v1/runs/${runId}`)
  expect([started.body.pending?.length, started.body.pending]).toEqual([1, polled.pending])
  const task = taskOf(await fixture.get<Conversation>(`/v1/runs/${runId}/conversation`))
  const answered = await send('POST', `/v1/runs/${runId}/messages`, 'wait=20', {
    runId,
    userTaskId: task,
    approved: true,
  })
  expect(answered).toMatchObject({ status: 202, applied: 'wait=20', body: { status: 'Completed' } })
  const read = await send('GET', `/v1/runs/${runId}`, 'wait=600')
  expect(read).toMatchObject({
    status: 200,
    applied: 'wait=60',
    body: { status: 'Completed', output: { refunded: 180 } },
  })
})

test('without the header nothing waits and nothing is said of it', async () => {
  const { send, agentId } = await asked()
  const started = await send('POST', `/v1/agents/${agentId}/runs`, undefined, { input: { order: 'A-1', amount: 180 } })
  expect(started).toMatchObject({ status: 202, applied: null, body: { status: 'Running' } })
})

test('a refused message is answered at once', async () => {
  const { send, agentId } = await asked()
  const { body } = await send('POST', `/v1/agents/${agentId}/runs`, 'wait=20', { input: { order: 'A-1', amount: 1 } })
  const path = `/v1/runs/${body.runId}/messages`
  const refused = await send('POST', path, 'wait=60', { runId: body.runId, userTaskId: body.runId, approved: true })
  expect(refused).toMatchObject({ status: 202, applied: null, body: { code: 'task_not_found' } })
})

/** A fixture whose runs never pause, so that only the caller, the time or the server ends a wait. */
async function endless() {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  const { secret, keyId, triggerId } = await fixture.keyFor(DESK)
  const { runId } = await fixture.storeRun(DESK, { triggerId, status: 'Running' })
  fixture.doors.waitForPause = (_, signal) =>
    new Promise((resolve) =>
      signal.aborted ? resolve(undefined) : signal.addEventListener('abort', () => resolve(undefined)),
    )
  const read = (seconds: number, signal?: AbortSignal) =>
    fixture.api(`/v1/runs/${runId}`, {
      key: secret,
      headers: { prefer: `wait=${seconds}` },
      ...(signal && { signal }),
    })
  const waits = async (count: number) => {
    while (fixture.services.readers.count(keyId) !== count) await new Promise((resolve) => setImmediate(resolve))
  }
  return { ...fixture, keyId, read, waits }
}

test('after the time the answer is the run as it is then', async () => {
  const { read, services, keyId } = await endless()
  const response = await read(0)
  expect([response.status, response.headers.get('preference-applied')]).toEqual([200, 'wait=0'])
  expect(await response.json()).toMatchObject({ status: 'Running' })
  expect(services.readers.count(keyId)).toBe(0)
})

test('a caller that goes away, a revoked key and a server that stops end the wait', async () => {
  const { read, waits, services, keyId } = await endless()
  const gone = new AbortController()
  const left = read(60, gone.signal)
  await waits(1)
  gone.abort()
  await left.catch(() => {})
  await waits(0)
  const revoked = read(60)
  await waits(1)
  services.readers.stop(keyId)
  expect((await revoked).status).toBe(200)
  const stopped = read(60)
  await waits(1)
  services.readers.stopAll()
  expect((await stopped).status).toBe(200)
  expect(services.readers.count(keyId)).toBe(0)
})

test('a request that had been accepted when the server stopped waits for nothing', async () => {
  const { read, services } = await endless()
  services.readers.stopAll()
  expect(await (await read(60)).json()).toMatchObject({ status: 'Running' })
})

test('beyond 100 waits of one key a request is answered at once, and says that nothing was granted', async () => {
  const { read, waits, services } = await endless()
  const held = Array.from({ length: 100 }, () => read(60))
  await waits(100)
  const over = await read(60)
  expect([over.status, over.headers.get('preference-applied')]).toEqual([200, null])
  services.readers.stopAll()
  await Promise.all(held)
})

test('a wait over the network ends when the connection closes', async () => {
  const fixture = await running({ snapshot: scripted([{ say: 'Hello.', delay_ms: 60_000 }]) })
  const { body } = await fixture.start()
  const gone = new AbortController()
  const wait = fetch(`${fixture.server.url}/v1/runs/${body['runId']}`, {
    headers: { 'x-api-key': fixture.secret, prefer: 'wait=60' },
    signal: gone.signal,
  })
  const settled = wait.catch((error: unknown) => (error as Error).name)
  await new Promise((resolve) => setTimeout(resolve, 100))
  gone.abort()
  expect(await settled).toBe('AbortError')
})

test('a start and a message stay accepted if the database goes away during the wait', async () => {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  const { secret: key, triggerId } = await fixture.keyFor(DESK)
  const { runId } = await fixture.storeRun(DESK, { triggerId, status: 'Running' })
  const away = fail('store_unreachable', { database: 'db/svc', why: 'it ended' })
  fixture.doors.waitForPause = () => Promise.reject(away)
  const post = async (path: string, json: object) => {
    const response = await fixture.api(path, { key, json, headers: { prefer: 'wait=20' } })
    const { status } = (await response.json()) as RunStatusBody
    return [response.status, response.headers.get('preference-applied'), status]
  }
  expect(await post(`/v1/agents/${DESK}/runs`, { input: {} })).toEqual([202, null, 'Running'])
  expect(await post(`/v1/runs/${runId}/messages`, { runId, text: 'Go on.' })).toEqual([202, null, 'Running'])
})
