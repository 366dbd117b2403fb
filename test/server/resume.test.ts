/** Readers of the stream that break off, come back, are slow, or are other people's. Source: docs/design/http.md#stream */
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { createParser } from 'eventsource-parser'
import { EventSource } from 'eventsource'
import fc from 'fast-check'
import { toNodeHandler } from 'h3/node'
import { afterEach, expect, test, vi } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { listenHttp } from '../../src/server/http/listen.ts'
import { openServer } from '../../src/server/open.ts'
import type { Conversation } from '../../src/spec/api.ts'
import { openFixture } from './fixtures.ts'
import { caller, closing, directory, DESK, options, publishDesk, running, taskOf } from './running.ts'
import { cases } from '../cases.ts'

const ORDER = { input: { order: 'A-1042', amount: 180 } }

afterEach(() => {
  vi.useRealTimers()
})

interface Seen {
  readonly id: number
  readonly data: string
}

/**
 * Reads until so many bytes have arrived, then breaks off wherever that is.
 * @returns the whole frames, and whether the server ended the stream or said that there is nothing more
 */
async function readBytes(url: string, key: string, after: number, bytes: number) {
  const seen: Seen[] = []
  const response = await fetch(url, {
    headers: { 'x-api-key': key, ...(after > 0 && { 'last-event-id': String(after) }) },
  })
  if (response.status === 204) return { seen, ended: true }
  const parser = createParser({
    // Text of the model on its way has no number: it is shown, and not counted.
    onEvent: ({ id, data }) => id !== undefined && seen.push({ id: Number(id), data }),
  })
  const decoder = new TextDecoder()
  let left = bytes
  for await (const chunk of response.body!) {
    parser.feed(decoder.decode(chunk.subarray(0, left), { stream: true }))
    left -= chunk.length
    // Leaving the loop closes the connection.
    if (left <= 0) return { seen, ended: false }
  }
  return { seen, ended: true }
}

/** Reads to the end with a cut after each of these counts of bytes, the last without one. */
async function readWithCuts(url: string, key: string, cuts: readonly number[]): Promise<Seen[]> {
  const all: Seen[] = []
  for (const bytes of [...cuts, Infinity]) {
    const { seen, ended } = await readBytes(url, key, all.at(-1)?.id ?? 0, bytes)
    all.push(...seen)
    if (ended) break
  }
  return all
}

test('cut at any byte, however often, a reader has every event once and in order', async () => {
  const { server, secret, start, until, get, post } = await running()
  const { runId } = (await start(ORDER.input)).body as { runId: string }
  await until(runId, 'engine.session.paused')
  const url = `${server.url}/v1/runs/${runId}/stream`
  const cuts = fc.array(fc.integer({ min: 1, max: 4000 }), { maxLength: 12 })
  // Some readers are there before the run goes on, and see its rest live.
  const early = fc.sample(cuts, 12).map((each) => readWithCuts(url, secret, each))
  const userTaskId = taskOf(await get<Conversation>(`/v1/runs/${runId}/conversation`))
  await post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
  const whole = await readWithCuts(url, secret, [])
  expect(whole.map(({ id }) => id)).toEqual(whole.map((_, index) => index + 1))
  expect(whole.length).toBeGreaterThan(20)
  for (const each of await Promise.all(early)) expect(each).toEqual(whole)
  await fc.assert(
    fc.asyncProperty(cuts, async (each) => {
      expect(await readWithCuts(url, secret, each)).toEqual(whole)
    }),
    { numRuns: cases(60) },
  )
})

test('a reader goes on after a restart of the server where it stopped', async () => {
  const data = directory()
  const first = await openServer(options(data))
  const { agentId, secret } = await publishDesk(first.operator)
  const before = caller(first.url, secret)
  const { runId } = (await before.post<{ runId: string }>(`/v1/agents/${agentId}/runs`, ORDER)).body
  await before.until(runId, 'engine.session.paused')
  const { seen } = await readBytes(`${first.url}/v1/runs/${runId}/stream`, secret, 0, 3000)
  expect(seen.length).toBeGreaterThan(2)
  await first.close(0)

  const second = await openServer(options(data))
  closing(() => second.close())
  const { get, post } = caller(second.url, secret)
  const url = `${second.url}/v1/runs/${runId}/stream`
  const rest = readBytes(url, secret, seen.at(-1)!.id, Infinity)
  const userTaskId = taskOf(await get<Conversation>(`/v1/runs/${runId}/conversation`))
  await post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
  expect([...seen, ...(await rest).seen]).toEqual(await readWithCuts(url, secret, []))
})

test('curl and the package eventsource read it too, the latter until it is told to stop', async () => {
  const { server, secret, start, until } = await running()
  const { runId } = (await start(ORDER.input)).body as { runId: string }
  await until(runId, 'engine.session.paused')
  await fetch(`${server.url}/v1/runs/${runId}/cancel`, { method: 'POST', headers: { 'x-api-key': secret } })
  const url = `${server.url}/v1/runs/${runId}/stream`
  const whole = await readWithCuts(url, secret, [])

  const { stdout } = await promisify(execFile)('curl', ['-sSN', '-H', `X-API-Key: ${secret}`, url])
  expect([...stdout.matchAll(/^data: (.*)$/gm)].map(([, data]) => data)).toEqual(whole.map(({ data }) => data))

  const got: Seen[] = []
  const statuses: number[] = []
  const source = new EventSource(url, {
    async fetch(input, init) {
      const response = await fetch(input, { ...init, headers: { ...init.headers, 'x-api-key': secret } })
      statuses.push(response.status)
      return response
    },
  })
  await new Promise<void>((resolve) => {
    source.addEventListener('message', ({ lastEventId, data }) =>
      got.push({ id: Number(lastEventId), data: String(data) }),
    )
    source.addEventListener('error', () => source.readyState === EventSource.CLOSED && resolve())
  })
  expect(got).toEqual(whole)
  expect(statuses).toEqual([200, 204])
})

async function followed() {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  const { secret, triggerId } = await fixture.keyFor(DESK)
  const { runId } = await fixture.storeRun(DESK, { triggerId })
  const listener = await listenHttp(toNodeHandler(createApp(fixture.services)), {
    host: '127.0.0.1',
    port: 0,
    ids: fixture.services.ids,
  })
  closing(() => listener.close(0))
  const path = `/v1/runs/${runId}/stream`
  return { ...fixture, secret, path, port: listener.port, url: `http://127.0.0.1:${listener.port}${path}` }
}

test('a reader that does not read costs some buffers and is cut off; what it was sent is whole to the cut', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { doors, secret, port, path } = await followed()
  let sent = 0
  let gone = false
  doors.follow = async function* (runId, _after, signal) {
    signal.addEventListener('abort', () => (gone = true))
    for (;;)
      yield [
        {
          sessionId: 's' as never,
          runId,
          ts: 0,
          kind: 'step',
          subject: 'engine.step.delta',
          data: { n: ++sent, text: 'x'.repeat(64 * 1024) },
        },
      ]
  }
  let text = ''
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${secret}\r\nConnection: close\r\n\r\n`),
  )
  socket.setEncoding('latin1').pause()
  for (let before = -1, calm = 0; calm < 500; calm = before === sent && sent > 0 ? calm + 1 : 0) {
    before = sent
    await new Promise(setImmediate)
  }
  // The buffers of the system, our 1 MiB, and nothing that grows with what the run has to say.
  expect(sent).toBeLessThan(256)
  expect(gone).toBe(false)
  await vi.advanceTimersByTimeAsync(5000)
  expect(gone).toBe(true)
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    socket.resume()
  })
  const numbers = [...text.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n))
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
})

test('HEAD is answered like GET and leaves no reader behind', async () => {
  const { doors, secret, url, services } = await followed()
  let opened = 0
  let closed = 0
  doors.follow = async function* (_run, _after, signal) {
    opened++
    yield ['live']
    await new Promise<void>((end) => (signal.aborted ? end() : signal.addEventListener('abort', () => end())))
    closed++
  }
  const response = await fetch(url, { method: 'HEAD', headers: { 'x-api-key': secret } })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const key = (await services.store.keys(services.workspace.id))[0]!
  await expect.poll(() => [services.readers.count(key.id), opened - closed]).toEqual([0, 0])
})

test('a key has at most 100 streams open', async () => {
  const { doors, secret, path, api, keyFor, storeRun } = await followed()
  doors.follow = async function* (_run, _after, signal) {
    yield ['live']
    await new Promise<void>((end) => signal.addEventListener('abort', () => end()))
  }
  const open = () => api(path, { key: secret })
  const streams = await Promise.all(Array.from({ length: 100 }, open))
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  const refused = await open()
  const { code, error } = (await refused.json()) as { code: string; error: string }
  expect([refused.status, code, error]).toEqual([
    429,
    'concurrency_limited',
    'An API key may have 100 event streams open at once.',
  ])
  expect(['retry-after', 'ratelimit', 'ratelimit-policy'].map((name) => refused.headers.get(name))).toEqual([
    '1',
    '"streams";r=0;t=1',
    '"streams";q=100',
  ])
  const other = await keyFor(DESK, { trigger: { name: 'other' } })
  const { runId } = await storeRun(DESK, { triggerId: other.triggerId })
  const theirs = await api(`/v1/runs/${runId}/stream`, { key: other.secret })
  expect(theirs.status).toBe(200)
  await streams[0]!.body!.cancel()
  await expect.poll(async () => (await api(path, { key: secret, method: 'HEAD' })).status).toBe(200)
  await Promise.all([...streams.slice(1), theirs].map((each) => each.body!.cancel()))
})
