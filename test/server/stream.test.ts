import { EventSourceParserStream } from 'eventsource-parser/stream'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type { FollowedEvent } from '../../src/engine/interface/engine.ts'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import { verifies } from '../api/verifies.ts'
import { openFixture, type Fixture } from './fixtures.ts'

const DESK = 'acme.refund-desk'

afterEach(() => {
  vi.useRealTimers()
})

async function opened(given: { status?: 'Running' | 'Completed'; events?: number; exposeTimeline?: boolean } = {}) {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  const made = await fixture.keyFor(DESK, { trigger: { exposeTimeline: given.exposeTimeline ?? true } })
  const run = await fixture.storeRun(DESK, {
    triggerId: made.triggerId,
    status: given.status ?? 'Completed',
    events: given.events ?? 3,
    child: true,
  })
  const stream = (query = '', headers: Record<string, string> = {}) =>
    fixture.api(`/v1/runs/${run.runId}/stream${query}`, { key: made.secret, headers })
  return { ...fixture, ...made, ...run, stream }
}

verifies('stream.one-line', async () => {
  const { stream, runId, sessionId } = await opened({ events: 2 })
  expect(await (await stream()).text()).toBe(
    [
      'retry: 1000\n\n',
      `id: 1\ndata: {"ts":"2026-11-20T10:00:00.000Z","kind":"session","subject":"engine.session.started","data":{"sessionId":"${sessionId}","runId":"${runId}","n":1}}\n\n`,
      `id: 2\ndata: {"ts":"2026-11-20T10:00:00.001Z","kind":"session","subject":"engine.session.completed","data":{"sessionId":"${sessionId}","runId":"${runId}","n":2}}\n\n`,
      ': live\n\n',
    ].join(''),
  )
})

verifies('stream.content-type', async () => {
  const { stream } = await opened()
  const response = await stream()
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
})

verifies('stream.event', async () => {
  const { stream } = await opened()
  const events = await read(await stream())
  expect(events.map(({ data }) => Object.keys(JSON.parse(data) as object))).toEqual(
    [1, 2, 3].map(() => ['ts', 'kind', 'subject', 'data']),
  )
})

test('no text in an event forges a frame', async () => {
  const { stream, doors } = await opened()
  const hostile = fc.array(
    fc.oneof(
      fc.constantFrom('\n', '\r', '\r\n', '\n\n', 'data: {"forged":true}', 'id: 9', ': live', 'event: x', 'retry: 1'),
      fc.constantFrom('\u2028', '\u2029', '\u0085', '\u0000', '\ufeff', '\ud800'),
      fc.string({ unit: 'binary' }),
    ),
  )
  const texts = fc.sample(
    hostile.map((parts) => parts.join('')),
    1000,
  )
  doors.follow = async function* (runId) {
    for (const text of texts) yield [{ ...delta(runId), data: { text, [text]: null } }]
  }
  const events = await read(await stream())
  expect(events.map(({ id, data }) => [id, (JSON.parse(data) as { data: unknown }).data])).toEqual(
    texts.map((text) => [undefined, { text, [text]: null }]),
  )
  // Nor where a reader ends lines as Python's `splitlines` does.
  const lines = (await (await stream()).text()).split(/\r\n|[\n\r\u0085\u2028\u2029]/)
  expect(lines.filter((line) => line !== '').map((line) => line.slice(0, 7))).toEqual([
    'retry: ',
    ...texts.map(() => 'data: {'),
  ])
})

test('resumes after Last-Event-ID or ?after=, the header first', async () => {
  const { stream } = await opened({ status: 'Running', events: 5 })
  const idsOf = async (response: Response) => (await read(response)).map(({ id }) => id)
  expect(await idsOf(await stream('', { 'last-event-id': '3' }))).toEqual(['4', '5'])
  expect(await idsOf(await stream('?after=4'))).toEqual(['5'])
  expect(await idsOf(await stream('?after=1', { 'last-event-id': '4' }))).toEqual(['5'])
  expect(await idsOf(await stream('?after=0'))).toEqual(['1', '2', '3', '4', '5'])
  expect(await idsOf(await stream('', { 'last-event-id': '' }))).toEqual(['1', '2', '3', '4', '5'])
})

test.each(['6', '-1', '1.5', 'x', '99999999999999999999'])('refuses the cursor %s', async (cursor) => {
  const { stream } = await opened({ events: 5 })
  for (const response of [await stream('', { 'last-event-id': cursor }), await stream(`?after=${cursor}`)])
    expect(response.status).toBe(400)
})

test('refuses an empty ?after=', async () => {
  const { stream } = await opened({ events: 5 })
  expect((await stream('?after=')).status).toBe(400)
})

test('answers 204 once a terminal run has nothing more to say', async () => {
  const { stream } = await opened({ events: 3 })
  const done = await stream('', { 'last-event-id': '3' })
  expect([done.status, await done.text()]).toEqual([204, ''])
  expect((await stream('', { 'last-event-id': '2' })).status).toBe(200)
  expect((await stream()).status).toBe(200)
})

test('a running run is followed from the last event on', async () => {
  const { stream } = await opened({ status: 'Running', events: 3 })
  expect((await stream('', { 'last-event-id': '3' })).status).toBe(200)
})

test('output-only mode drops steps and keeps the numbers', async () => {
  const { stream } = await opened({ events: 4, exposeTimeline: false })
  const events = await read(await stream())
  expect(events.map(({ id }) => id)).toEqual(['1', '4'])
})

verifies('stream.live', async () => {
  const { stream, doors, runId } = await opened({ status: 'Running' })
  let say: (each: FollowedEvent) => void = () => {}
  doors.follow = async function* () {
    yield ['live']
    yield [await new Promise<FollowedEvent>((resolve) => (say = resolve))]
  }
  const reader = (await stream()).body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(': live')) text += (await reader.read()).value
  say(delta(runId))
  text = (await reader.read()).value!
  expect(text).toBe(
    'data: {"ts":"1970-01-01T00:00:00.000Z","kind":"step","subject":"engine.step.delta","data":{"text":"Hel"}}\n\n',
  )
})

test('sends a comment every 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { stream, doors } = await opened({ status: 'Running' })
  doors.follow = async function* (_run, _after, signal) {
    yield ['live']
    await untilAborted(signal)
  }
  const reader = (await stream()).body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(': live')) text += (await reader.read()).value
  vi.advanceTimersByTime(15_000)
  expect((await reader.read()).value).toBe(': \n\n')
  await reader.cancel()
})

test('a reader that leaves lets the engine go', async () => {
  const { stream, doors, services, keyId } = await opened({ status: 'Running' })
  const signal = await followed(doors, async () => {
    const response = await stream()
    await response.body!.cancel()
  })
  expect(signal.aborted).toBe(true)
  services.readers.stop(keyId)
})

test('revoking the key ends its streams', async () => {
  const { stream, doors, operator, keyId } = await opened({ status: 'Running' })
  let text = Promise.resolve('')
  const signal = await followed(doors, async () => {
    text = (await stream()).text()
    await operator('POST /keys/:id/revoke', { id: keyId })
  })
  expect(signal.aborted).toBe(true)
  expect(await text).toBe('retry: 1000\n\n: live\n\n')
  expect((await stream()).status).toBe(401)
})

test('a key that expires ends its streams', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const fixture = openFixture()
  await fixture.deploy(DESK)
  const { secret: key, triggerId } = await fixture.keyFor(DESK, { key: { expiresInSeconds: 60 } })
  const { runId } = await fixture.storeRun(DESK, { triggerId })
  let text = Promise.resolve('')
  const signal = await followed(fixture.doors, async () => {
    text = (await fixture.api(`/v1/runs/${runId}/stream`, { key })).text()
    fixture.clock.wind(59_999)
    await vi.advanceTimersByTimeAsync(59_999)
    expect(
      fixture.services.readers.count((await fixture.services.store.keys(fixture.services.workspace.id))[0]!.id),
    ).toBe(1)
    fixture.clock.wind(1)
    await vi.advanceTimersByTimeAsync(1)
  })
  expect(signal.aborted).toBe(true)
  expect(await text).toBe('retry: 1000\n\n: live\n\n')
  expect((await fixture.api(`/v1/runs/${runId}/stream`, { key })).status).toBe(401)
})

test('a reader that leaves 1 MiB unsent is disconnected', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { stream, doors } = await opened({ status: 'Running' })
  let sent = 0
  let ended = false
  doors.follow = async function* (runId) {
    try {
      for (;;) {
        sent++
        yield [{ ...delta(runId), data: { text: 'x'.repeat(64 * 1024) } }]
      }
    } finally {
      ended = true
    }
  }
  const response = await stream()
  await new Promise(setImmediate)
  expect(sent).toBeLessThan(20)
  await vi.advanceTimersByTimeAsync(5000)
  await expect(response.text()).rejects.toThrow('The reader does not keep up.')
  expect(ended).toBe(true)
})

test('a reader that is only slow gets everything', async () => {
  const { stream, doors } = await opened({ status: 'Running' })
  doors.follow = async function* (runId) {
    for (let n = 0; n < 100; n++) yield [{ ...delta(runId), data: { text: 'x'.repeat(64 * 1024) } }]
  }
  expect(await read(await stream())).toHaveLength(100)
})

const delta = (runId: RunId): Exclude<FollowedEvent, 'live'> => ({
  sessionId: 's' as SessionId,
  runId,
  ts: 0,
  kind: 'step',
  subject: 'engine.step.delta',
  data: { text: 'Hel' },
})

async function read(response: Response) {
  const events: { readonly id?: string | undefined; readonly data: string }[] = []
  const stream = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const event of stream) events.push(event)
  return events
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))

/** The signal that the engine was given, once `act` has made it end. */
async function followed(doors: Fixture['doors'], act: () => Promise<void>): Promise<AbortSignal> {
  let given: AbortSignal | undefined
  let done: () => void = () => {}
  const over = new Promise<void>((resolve) => (done = resolve))
  doors.follow = async function* (_run, _after, signal) {
    given = signal
    yield ['live']
    await untilAborted(signal)
    done()
  }
  await act()
  await over
  return given!
}
