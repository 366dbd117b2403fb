import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { SvcClient, type StreamEvent } from '../../clients/typescript/src/index.ts'
import { verifies } from '../api/verifies.ts'
import { fakeFetch, type Answer } from './fake-fetch.ts'

const ROOT = 'run-root'
const CHILD = 'run-child'

const event = (kind: string, subject: string, runId = ROOT): StreamEvent =>
  ({ ts: '2026-11-20T10:42:01.000Z', kind, subject, data: { sessionId: 'session', runId } }) as StreamEvent
const frame = (id: number, value: unknown): string => `id: ${id}\ndata: ${JSON.stringify(value)}\n\n`

const started = event('session', 'engine.session.started')
const completed = event('run', 'engine.run.completed')
const ended = event('session', 'engine.session.completed')

const collect = async (events: AsyncIterable<StreamEvent>): Promise<string[]> => {
  const subjects: string[] = []
  for await (const each of events) subjects.push(each.subject)
  return subjects
}

const sse = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const clientOf = (...answers: Answer[]) => {
  const { fetch, sent } = fakeFetch(...answers)
  return { client: new SvcClient({ apiKey: 'svc_test', baseUrl: 'http://svc.test', fetch }), sent }
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A server on loopback whose n-th connection is handled by `handle`. */
async function serve(
  handle: (response: ServerResponse, request: IncomingMessage, nth: number) => void,
): Promise<string> {
  let nth = 0
  const server = createServer((request, response) => handle(response, request, ++nth))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

verifies('client.stream', async () => {
  const odd = {
    ...event('step', 'engine.step.completed'),
    data: { sessionId: 's', runId: ROOT, text: 'a\u2028b é 😀', n: 1e21 },
  }
  const { client, sent } = clientOf(
    sse(frame(1, started) + frame(2, odd) + frame(3, completed) + frame(4, ended) + frame(5, odd)),
  )
  const seen: StreamEvent[] = []
  for await (const each of client.streamRunEvents(ROOT)) seen.push(each)
  expect(seen).toEqual([started, odd, completed, ended])
  expect(sent).toEqual([
    {
      method: 'GET',
      url: `http://svc.test/v1/runs/${ROOT}/stream`,
      headers: { 'x-api-key': 'svc_test', 'x-svc-client': 'ts/0.1.0', accept: 'text/event-stream' },
      body: undefined,
    },
  ])
})

test('gets fifty events once each over connections that are cut in the middle of a frame', async () => {
  const all = [started, ...Array.from({ length: 47 }, (_, at) => event('step', `engine.step.${at}`)), completed, ended]
  const asked: (string | undefined)[] = []
  const base = await serve((response, request, nth) => {
    const last = request.headers['last-event-id'] as string | undefined
    asked.push(last)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 1\n\n')
    // One event too early: a server that repeats itself does no harm.
    const from = Math.max(0, Number(last ?? 0) - 1)
    const text = all.map((each, at) => frame(at + 1, each)).slice(from)
    if (nth === 4) {
      response.end(text.join(''))
      return
    }
    const whole = text.slice(0, 14).join('')
    response.write(`${whole}id: 99\ndata: {"ts":`, () => response.destroy())
  })
  const client = new SvcClient({ apiKey: 'svc_test', baseUrl: base })
  expect(await collect(client.streamRunEvents(ROOT))).toEqual(all.map((each) => each.subject))
  expect(asked).toEqual([undefined, '14', '27', '40'])
})

test('splits no character that arrives in two pieces', async () => {
  const bytes = new TextEncoder().encode(frame(1, { ...ended, data: { sessionId: 's', runId: ROOT, text: '😀é' } }))
  const { client } = clientOf(
    () =>
      new Response(
        new ReadableStream({ start: (c) => (bytes.forEach((byte) => c.enqueue(Uint8Array.of(byte))), c.close()) }),
      ),
  )
  const seen: StreamEvent[] = []
  for await (const each of client.streamRunEvents(ROOT)) seen.push(each)
  expect(seen[0]!.data).toMatchObject({ text: '😀é' })
})

test('resumes after the id it is given', async () => {
  const { client, sent } = clientOf(sse(frame(7, event('step', 'old')) + frame(8, ended)))
  expect(await collect(client.streamRunEvents(ROOT, { lastEventId: '7' }))).toEqual(['engine.session.completed'])
  expect(sent[0]!.headers['last-event-id']).toBe('7')
})

test('ends where the server says that nothing more will come', async () => {
  const { client } = clientOf(new Response(null, { status: 204 }))
  expect(await collect(client.streamRunEvents(ROOT, { lastEventId: '7' }))).toEqual([])
})

test('passes events without an id, and does not take them for a position', async () => {
  const delta = `data: ${JSON.stringify(event('step', 'engine.step.delta'))}\n\n`
  const { client, sent } = clientOf(sse(`retry: 1\n\n${frame(1, started)}${delta}${delta}`), sse(frame(2, ended)))
  expect(await collect(client.streamRunEvents(ROOT))).toEqual([
    'engine.session.started',
    'engine.step.delta',
    'engine.step.delta',
    'engine.session.completed',
  ])
  expect(sent[1]!.headers['last-event-id']).toBe('1')
})

test('ends a sub-agent run with that run, not with its session', async () => {
  const child = event('run', 'engine.run.completed', CHILD)
  const { client } = clientOf(sse(frame(1, started) + frame(2, child) + frame(3, completed)))
  expect(await collect(client.streamRunEvents(CHILD))).toEqual(['engine.session.started', 'engine.run.completed'])
})

test('does not end the root with a child of it', async () => {
  const child = event('run', 'engine.run.failed', CHILD)
  const { client } = clientOf(sse(frame(1, started) + frame(2, child) + frame(3, completed) + frame(4, ended)))
  expect((await collect(client.streamRunEvents(ROOT))).length).toBe(4)
})

test('looks once more when it cannot know whether the run was the root', async () => {
  const root = clientOf(sse(`retry: 1\n\n${frame(8, completed)}`), sse(frame(9, ended)))
  expect(await collect(root.client.streamRunEvents(ROOT, { lastEventId: '7' }))).toEqual([
    'engine.run.completed',
    'engine.session.completed',
  ])
  const child = clientOf(sse(`retry: 1\n\n${frame(8, completed)}`), new Response(null, { status: 204 }))
  expect(await collect(child.client.streamRunEvents(ROOT, { lastEventId: '7' }))).toEqual(['engine.run.completed'])
  const repeating = clientOf(sse(`retry: 1\n\n${frame(8, completed)}`))
  expect(await collect(repeating.client.streamRunEvents(ROOT, { lastEventId: '7' }))).toEqual(['engine.run.completed'])
})

test.each([400, 401, 403, 404])('throws %i at once', async (status) => {
  const { client, sent } = clientOf(new Response('{}', { status }))
  await expect(collect(client.streamRunEvents(ROOT))).rejects.toMatchObject({ status, path: `/v1/runs/${ROOT}/stream` })
  expect(sent.length).toBe(1)
})

test('comes back after a 503 that asks for it', async () => {
  const { client } = clientOf(new Response('', { status: 503, headers: { 'retry-after': '0' } }), sse(frame(1, ended)))
  expect(await collect(client.streamRunEvents(ROOT))).toEqual(['engine.session.completed'])
})

test('with reconnect off the first cut is an error', async () => {
  const { client, sent } = clientOf(sse(frame(1, started)))
  await expect(collect(client.streamRunEvents(ROOT, { reconnect: false }))).rejects.toThrow(
    `The stream of /v1/runs/${ROOT}/stream was cut.`,
  )
  expect(sent.length).toBe(1)
})

test('takes no page of a proxy for a stream', async () => {
  const { client } = clientOf(new Response('<html>', { headers: { 'content-type': 'text/html' } }))
  await expect(collect(client.streamRunEvents(ROOT))).rejects.toMatchObject({
    body: 'Expected text/event-stream, got text/html.',
  })
})

test('leaving the loop closes the connection', async () => {
  let closed: () => void
  const gone = new Promise<void>((resolve) => (closed = resolve))
  const base = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame(1, started))
    response.on('close', () => closed())
  })
  const client = new SvcClient({ apiKey: 'svc_test', baseUrl: base })
  for await (const each of client.streamRunEvents(ROOT)) {
    expect(each.subject).toBe('engine.session.started')
    break
  }
  await gone
})

test('an abort ends a silent stream with the reason of the caller, also where fetch ties no body to its signal', async () => {
  const controller = new AbortController()
  const { client } = clientOf(
    () => new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(frame(1, started))) })),
  )
  const reading = (async () => {
    for await (const each of client.streamRunEvents(ROOT, { signal: controller.signal }))
      controller.abort(`enough of ${each.kind}`)
  })()
  await expect(reading).rejects.toBe('enough of session')
})
