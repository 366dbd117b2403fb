/** A call that a client makes again, because it lost patience or the answer, is one call. */
import { expect, test } from 'vitest'
import type { Clock } from '../../../src/base/clock.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { openServer } from '../../../src/server/open.ts'
import { ask, closing, DESK, directory, options, publishDesk } from '../running.ts'
import { callOf, clientDesk, postMcp, serveClientDesk } from './post-mcp.ts'

const SOON = { 'svc/wait-seconds': 0.3 }

test('two calls that are the same are one, also while the first has no answer yet', async () => {
  const { call, operator } = await serveClientDesk()
  const [first, second] = await Promise.all([
    call('refunds', { amount: 5 }, SOON),
    call('refunds', { amount: 5 }, SOON),
  ])
  const { handle } = first.message!.result!['structuredContent'] as { handle: string }
  expect(second.message!.result).toMatchObject({ structuredContent: { status: 'asking', handle } })
  expect(await operator('GET /tasks')).toMatchObject({ total: 1 })
})

test('the end of one call leaves another that looks the same open', async () => {
  const { call, post, server, operator } = await serveClientDesk()
  await call('refunds', { amount: 5 }, SOON)
  // It is another call, by its key, and it is rejected.
  const keyed = await call('refunds', { amount: 5 }, { ...SOON, 'svc/idempotency-key': 'k-2' })
  const { items } = await ask<{ items: readonly { userTaskId: string; runId: string }[] }>(
    server.operator,
    'GET /tasks',
  )
  const { userTaskId: newest, runId } = items.toSorted((a, b) => (a.userTaskId < b.userTaskId ? 1 : -1))[0]!
  await operator(`POST /runs/${runId}/messages`, { runId, userTaskId: newest, approved: false })
  await call('refunds', { amount: 5 }, { 'svc/idempotency-key': 'k-2' })
  expect(keyed.message!.result).toMatchObject({ structuredContent: { handle: 'k-2' } })
  await post(callOf(3, 'refunds', { amount: 5 }, SOON))
  expect(await operator('GET /tasks')).toMatchObject({ total: 1 })
})

test('a call that waits is the same call for a process that has just begun', async () => {
  const data = directory()
  const first = await openServer(options(data))
  const { secret } = await publishDesk(first.operator, {}, clientDesk)
  const callAt = async ({ url }: { readonly url: string }, amount: number): Promise<JsonObject> => {
    const { message } = await postMcp(`${url}/mcp/${DESK}`, secret, callOf(1, 'refunds', { amount }, SOON))
    return message!.result!['structuredContent'] as JsonObject
  }
  const before = await callAt(first, 5)
  await first.close()
  const second = await openServer(options(data))
  closing(() => second.close())
  expect(await callAt(second, 5)).toEqual(before)
  expect(await ask(second.operator, 'GET /tasks')).toMatchObject({ total: 1 })
  // Other arguments are another call.
  await callAt(second, 6)
  expect(await ask(second.operator, 'GET /tasks')).toMatchObject({ total: 2 })
})

test('a call is found after midnight by its key, by its handle and as the same call', async () => {
  let now = Date.parse('2026-11-29T23:59:50Z')
  const clock: Clock = { now: () => now, monotonic: () => performance.now() }
  const { call, operator } = await serveClientDesk({ clock })
  const keyed = { ...SOON, 'svc/idempotency-key': 'k-1' }
  const first = await call('refunds', { amount: 5 }, keyed)
  const second = await call('refunds', { amount: 6 }, SOON)
  const handleOf = ({ message }: typeof first) => (message!.result!['structuredContent'] as { handle: string }).handle
  now += 20_000
  expect(handleOf(await call('refunds', { amount: 5 }, keyed))).toBe('k-1')
  expect(handleOf(await call('refunds', { amount: 6 }, SOON))).toBe(handleOf(second))
  expect(handleOf(await call('svc_call_result', { handle: 'k-1' }, SOON))).toBe('k-1')
  expect(await operator('GET /tasks')).toMatchObject({ total: 2 })
})

test.each([
  ['svc/idempotency-key', 17],
  ['svc/idempotency-key', ''],
  ['svc/conversation', { name: 'c-1' }],
  ['svc/wait-seconds', '3'],
])('%s that is %j is refused by its name, and nothing is called', async (key, value) => {
  const { call, operator } = await serveClientDesk()
  expect((await call('lookup', {}, { [key]: value })).message!.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining(`_meta["${key}"] must be `) as unknown }],
  })
  expect(await operator('GET /runs')).toMatchObject({ total: 0 })
})
