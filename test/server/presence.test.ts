/**
 * Whether a process serves, as balancers, other processes and operators are told.
 * Source: docs/design/several-processes.md#life-of-a-process
 */
import { expect, test } from 'vitest'
import { ownStoreClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/server/open.ts'
import { createPresence } from '../../src/server/runtime/presence.ts'
import type { Store } from '../../src/store/store.ts'
import type { WorkerReport } from '../../src/store/worker.ts'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import { ask, closing, options } from './running.ts'

const report: WorkerReport = {
  id: 'host:1:a',
  version: '1.0.0',
  startedAt: 0,
  url: null,
  peerUrl: null,
  isDraining: false,
  ports: [],
  addresses: [],
}

/** @param answers what the store answers to each report in turn */
function present(answers: () => Promise<{ isAsked: boolean; isFirst?: boolean }>) {
  let now = 0
  let isDraining = false
  let aheadMs = 0
  const forgotten: string[] = []
  const store = { report: answers, forgetWorker: async (id: string) => void forgotten.push(id) } as unknown as Store
  const presence = createPresence({
    store,
    clock: { ...ownStoreClock({ now: () => now, monotonic: () => now }), aheadMs: () => aheadMs },
    describe: () => ({ ...report, isDraining }),
  })
  return {
    presence,
    forgotten,
    wind: (ms: number) => (now += ms),
    drain: () => (isDraining = true),
    skew: (ms: number) => (aheadMs = ms),
  }
}

test('a process is ready once its store has answered, and no longer when that is away for more than 5 s', async () => {
  let isAway = false
  const { presence, wind, drain, forgotten } = present(async () => {
    if (isAway) throw new Error('away')
    return { isAsked: false }
  })
  expect(presence.unready()).toBe('starting')
  await presence.begin(() => {})
  expect(presence.unready()).toBeUndefined()
  isAway = true
  wind(5000)
  await presence.report()
  expect(presence.unready()).toBeUndefined()
  wind(1001)
  expect(presence.unready()).toBe('store_away')
  isAway = false
  await presence.report()
  expect(presence.unready()).toBeUndefined()
  drain()
  expect(presence.unready()).toBe('draining')
  await presence.stop()
  expect(forgotten).toEqual(['host:1:a'])
})

test('a process is the first while its last answer said so, and less than 15 s passed since it was asked for', async () => {
  let isAway = false
  let isFirst = true
  const { presence, wind } = present(async () => {
    if (isAway) throw new Error('away')
    wind(1000)
    return { isAsked: false, isFirst }
  })
  expect(presence.isFirst()).toBe(false)
  await presence.begin(() => {})
  expect(presence.isFirst()).toBe(true)
  isAway = true
  await presence.report()
  wind(13_999)
  expect(presence.isFirst()).toBe(true)
  wind(1)
  expect(presence.isFirst()).toBe(false)
  isAway = false
  await presence.report()
  expect(presence.isFirst()).toBe(true)
  isFirst = false
  await presence.report()
  expect(presence.isFirst()).toBe(false)
  isFirst = true
  await presence.report()
  await presence.stop()
  expect(presence.isFirst()).toBe(false)
})

test.each([1001, -3_600_000])('a process whose clock is %s ms ahead of the store is not ready', async (ms) => {
  const { presence, skew } = present(async () => ({ isAsked: false }))
  await presence.begin(() => {})
  skew(ms)
  expect(presence.unready()).toBe('clock_off')
  skew(1000)
  expect(presence.unready()).toBeUndefined()
  await presence.stop()
})

test('a process that is asked to drain is told once', async () => {
  let told = 0
  const { presence } = present(async () => ({ isAsked: true }))
  await presence.begin(() => told++)
  await presence.report()
  expect(told).toBe(1)
  await presence.stop()
})

test('a server tells on its internal listener that it serves, and ends when an operator drains it', async () => {
  const server = await openServer({ ...options(), internal: { host: '127.0.0.1', port: 0 } })
  closing(() => server.close())
  const at = (path: string) => fetch(server.internalUrl + path)
  const ready = await at('/v1/readyz')
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'serving' }])
  expect((await at('/v1/healthz')).status).toBe(200)
  expect((await at('/v1/agents')).status).toBe(404)
  // Clients do not reach it where they reach the API.
  expect((await fetch(`${server.url}/v1/readyz`)).status).toBe(404)

  const list = async () => await ask<OperatorRoutes['GET /workers']['answer']>(server.operator, 'GET /workers')
  const { items, total } = await list()
  expect([total, items]).toMatchObject([1, [{ state: 'serving', url: server.url, leases: 0 }]])
  const metrics = await at('/metrics')
  expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  expect(await metrics.text()).toContain('\nsvc_claim_delay_seconds 0\n')
  const ending = items[0]!.workerId.slice(-8)
  expect(server.drain.aborted).toBe(false)
  expect(await ask(server.operator, `POST /workers/${ending}/drain`)).toMatchObject({ state: 'draining' })
  await expect.poll(() => server.drain.aborted).toBe(true)
  const closed = server.close()
  const later = await at('/v1/readyz').then(
    async (response) => [response.status, await response.json()],
    () => 'refused',
  )
  expect([[503, { status: 'draining' }], 'refused']).toContainEqual(later)
  await closed
})
