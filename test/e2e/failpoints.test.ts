/**
 * The real process dies at each place that matters, once, in the middle of a run that does something of every side-effect
 * class. What had happened by then is kept, and what is not known is asked, never tried again by itself.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Presigned, RunStatusBody } from '../../src/spec/api.ts'
import { isLong } from '../cases.ts'
import { svc, svcJson, type RunningServer, type ServerProcess } from './binary.ts'
import { openCourier, type Courier } from './courier.ts'
import { customer, ENDED } from './customer.ts'

let courier: Courier
beforeAll(async () => void (courier = await openCourier()))
afterAll(() => courier.close())

/** Lets a run go on until it has ended or its server is gone. */
async function drive(
  courier: Courier,
  server: RunningServer | ServerProcess,
  runId: string,
): Promise<RunStatusBody | 'died'> {
  let died = false
  if ('died' in server) void server.died.then(() => (died = true))
  const api = customer(server, courier.access)
  for (;;) {
    try {
      const run = await api.help(runId)
      if (ENDED.has(run.status)) return run
      if (run.status === 'WaitingForHITL') await courier.review()
    } catch (error) {
      await after(50)
      if (died) return 'died'
      throw error
    }
    await after(20)
  }
}

/** @returns the run's end, and how often each tool was called from outside for it */
async function dieAt(courier: Courier, failpoint: string): Promise<{ run: RunStatusBody; called: object }> {
  const before = courier.arrivals.length
  const mortal = await courier.serve(failpoint)
  const key = `dies-at-${failpoint.replace(':', '-')}`
  // The process may be gone before its answer has arrived: the same start, sent again, is the same run.
  const started = await customer(mortal, courier.access)
    .start(key)
    .catch((error: unknown) => {
      // As `fetch` tells that a connection broke.
      if (!(error instanceof TypeError)) throw error
    })
  expect(started === undefined ? 'died' : await drive(courier, mortal, started)).toBe('died')
  expect(await mortal.died).toBe('SIGKILL')

  const server = await courier.serveHere()
  const runId = started ?? (await customer(server, courier.access).start(key))
  const run = (await drive(courier, server, runId)) as RunStatusBody
  const numbers = await customer(server, courier.access).eventNumbers(runId)
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
  await server.stop('SIGTERM')
  const arrived = courier.arrivals.slice(before)
  expect(new Set(arrived.map(({ key }) => key)).size).toBe(5)
  const called: Record<string, number> = {}
  for (const { tool } of arrived) called[tool] = (called[tool] ?? 0) + 1
  return { run, called }
}

/** Each place, at the passes that matter most; `SVC_TEST_LONG=1` tries every pass of a run. The first commit is its start. */
const PLACES: Readonly<Record<string, { readonly some: readonly number[]; readonly all: readonly number[] }>> = {
  'commit.before': { some: [3], all: [2, 3, 4, 5, 6, 7, 8, 9] },
  'commit.after': { some: [2], all: [2, 3, 4, 5, 6, 7, 8, 9] },
  'model.afterReply': { some: [1], all: [1, 2, 3, 4, 5, 6] },
  'effect.afterDispatchRecord': { some: [3], all: [1, 2, 3, 4, 5] },
  'effect.afterReply': { some: [3, 5], all: [1, 2, 3, 4, 5] },
}
const passes = Object.entries(PLACES).flatMap(([place, which]) =>
  which[isLong ? 'all' : 'some'].map((pass) => `${place}:${pass}`),
)

test.each(passes)('a process that dies at %s has done nothing unsafe twice, and its run ends', async (failpoint) => {
  const { run, called } = await dieAt(courier, failpoint)
  expect(run).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
  expect(called).toMatchObject({ 'acme.post': 1, 'acme.pay': 1, 'acme.stamp': 1 })
})

test.each([
  ['before', 0],
  ['after', 1],
])(
  'a start whose server dies right %s its commit begins one run when it is sent again with its key',
  async (when, kept) => {
    const mortal = await courier.serve(`commit.${when}:1`)
    const before = (await customer(mortal, courier.access).sessions()).length
    await expect(customer(mortal, courier.access).start(`order-${when}`)).rejects.toThrow('fetch failed')

    const server = await courier.serveHere()
    const api = customer(server, courier.access)
    expect((await api.sessions()).length).toBe(before + kept)
    const runId = await api.start(`order-${when}`)
    expect(await drive(courier, server, runId)).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
    expect((await api.sessions()).length).toBe(before + 1)
    await server.stop('SIGTERM')
  },
)

test('a write that calls itself read-only happens twice: the book outside would tell', async () => {
  const lying = await openCourier({ classOfPost: 'read_only' })
  try {
    // The third reply is that of `post`, in the order of the calls.
    const { run, called } = await dieAt(lying, 'effect.afterReply:3')
    expect(run.status).toBe('Completed')
    expect(called).toMatchObject({ 'acme.post': 2, 'acme.pay': 1, 'acme.stamp': 1 })
  } finally {
    await lying.close()
  }
})

test('whoever must say whether a payment happened looks with the tool that its author named', async () => {
  const mortal = await courier.serve('effect.afterReply:5')
  const runId = await customer(mortal, courier.access).start()
  expect(await drive(courier, mortal, runId)).toBe('died')

  const server = await courier.serveHere()
  const at = { cwd: courier.project.directory }
  const data = ['--data', courier.project.data]
  const item = await waitingReview(data)
  const key = courier.arrivals.findLast(({ tool }) => tool === 'acme.pay')!.key
  expect(await svcJson(['answer', item, '--probe', ...data], at)).toEqual({
    userTaskId: item,
    name: 'find',
    arguments: { idempotency_key: key },
    result: { done: key },
    isError: false,
  })
  expect((await customer(server, courier.access).run(runId)).status).toBe('WaitingForHITL')
  expect((await svc(['answer', item, '--option', 'happened', ...data], at)).code).toBe(0)
  expect(await drive(courier, server, runId)).toMatchObject({ status: 'Completed' })
  expect(courier.arrivals.filter(({ tool, runId: of }) => of === runId && tool === 'acme.pay')).toHaveLength(1)
  await server.stop('SIGTERM')
})

/** The review that waits, once there is one. */
async function waitingReview(data: readonly string[]): Promise<string> {
  for (;;) {
    const { items } = await svcJson<{ items: { userTaskId: string; kind: string }[] }>(
      ['inbox', '--kind', 'anomaly_review', ...data],
      { cwd: courier.project.directory },
    )
    if (items[0]) return items[0].userTaskId
    await after(50)
  }
}

test.each([1, 2, 4])(
  'a reader whose server dies in the middle of frame %i misses nothing and sees nothing twice',
  async (at) => {
    const mortal = await courier.serve(`sse.midFrame:${at}`)
    const runId = await customer(mortal, courier.access).start()
    const torn = await read(mortal, runId, 0)
    // Half a frame arrived: it has not ended, so no reader takes it for an event.
    expect(torn.rest).not.toBe('')
    expect(await mortal.died).toBe('SIGKILL')

    const server = await courier.serveHere()
    expect(await drive(courier, server, runId)).toMatchObject({ status: 'Completed' })
    const seen = [...torn.numbers, ...(await read(server, runId, torn.numbers.at(-1) ?? 0)).numbers]
    expect(seen).toEqual(await customer(server, courier.access).eventNumbers(runId))
    expect(seen).toEqual(seen.map((_, place) => place + 1))
    await server.stop('SIGTERM')
  },
)

/** Follows a run until the stream ends or breaks. @returns the numbers of whole frames, and what came after the last */
async function read(
  { url }: RunningServer,
  runId: string,
  after: number,
): Promise<{ numbers: number[]; rest: string }> {
  const headers = { 'X-API-Key': courier.access.secret, ...(after > 0 && { 'Last-Event-ID': String(after) }) }
  const response = await fetch(`${url}/v1/runs/${runId}/stream`, { headers })
  let text = ''
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  } catch {
    // The connection broke.
  }
  const frames = text.split('\n\n')
  const rest = frames.pop()!
  return { numbers: frames.flatMap((frame) => /^id: ?(\d+)$/m.exec(frame)?.[1] ?? []).map(Number), rest }
}

test('an upload whose server died between its move and its row is finalized by asking again', async () => {
  const mortal = await courier.serve('finalize.afterMove')
  const presigned = await post(mortal, 'presign', { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 5 })
  const { uploadUrl, requiredHeaders, objectKey, ...rest } = (await presigned.json()) as Presigned
  expect(rest.httpMethod).toBe('PUT')
  expect((await fetch(uploadUrl, { method: 'PUT', headers: requiredHeaders, body: 'hello' })).status).toBe(200)
  await expect(post(mortal, 'finalize', { objectKey, maxContentLength: 5 })).rejects.toThrow('fetch failed')
  expect(await mortal.died).toBe('SIGKILL')

  const server = await courier.serveHere()
  const finalized = await post(server, 'finalize', { objectKey, maxContentLength: 5 })
  expect([finalized.status, await finalized.json()]).toEqual([
    200,
    {
      objectKey,
      filename: objectKey.split('/').at(-1),
      mediaType: 'text/plain',
      sizeBytes: 5,
      alreadyFinalized: false,
    },
  ])
  await server.stop('SIGTERM')
})

const post = ({ url }: RunningServer, route: string, body: object): Promise<Response> =>
  fetch(`${url}/v1/file-library/${route}`, {
    method: 'POST',
    headers: { 'X-API-Key': courier.access.secret, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

test('the build that people get has no such places', () => {
  const dist = resolve(import.meta.dirname, '../../dist')
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) => /\.c?js$/.test(path))
  const places = files.filter((path) => readFileSync(join(dist, path), 'utf8').includes('SVC_FAILPOINT'))
  expect(places.map((path) => path.split('/')[0])).toEqual(['failpoints'])
})
