/** The spend cap of the workspace: completions wait for it, runs are not ended by it. Source: docs/design/models-and-tools.md#limits */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import { createEngine } from '../../src/engine/open.ts'
import { outageHold } from '../../src/spec/run/hold.ts'
import type { Store } from '../../src/store/store.ts'
import {
  inOrder,
  openBench,
  returns,
  snapshotOf,
  startOf,
  T0,
  tool,
  turns,
  type Bench,
  type BenchSpec,
  type ModelReply,
} from './bench.ts'

const DAY = 86_400_000
const pay = tool('pay', { sideEffectClass: 'idempotent_write' })

/** One agent that pays once and says so. Each of its completions uses 20 tokens. */
const openPayer = (about: Partial<BenchSpec> = {}, snapshot: object = {}): Promise<Bench> =>
  openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [pay] }), ...snapshot }],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: { pay: () => returns('paid') },
    ...about,
  })

const stateOf = async (bench: Bench, run: RunId) => {
  const stored = (await bench.store.run(run))!
  const { status, output, error, errorCode } = stored
  return { status, output, error, errorCode, hold: outageHold(stored) }
}

test('a run on its way is held once the cap is spent, with what it has done, and goes on when the next day begins', async () => {
  const bench = await openPayer({ plan: { tokens: 20 } })
  await bench.advance(DAY - 61_000)
  const run = await bench.start('root')
  await turns()
  expect(bench.invoked).toHaveLength(1)
  expect(await stateOf(bench, run)).toMatchObject({
    status: 'Running',
    hold: {
      reason: 'quota_spent',
      since: new Date(T0 + DAY - 61_000).toISOString(),
      nextAttemptAt: new Date(T0 + DAY).toISOString(),
    },
  })
  await bench.advance(60_999)
  expect(await stateOf(bench, run)).toMatchObject({ status: 'Running' })
  await bench.advance(1)
  expect(await stateOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Paid.', hold: undefined })
  expect(bench.invoked).toHaveLength(1)
})

test('a cap in money holds runs alike', async () => {
  const price = { currency: 'EUR', version: 'test', input: '1000', output: '1000' }
  const cost = { amount: '0.02', currency: 'EUR' }
  const bench = await openPayer({ plan: { cost }, terms: () => ({ price }) })
  await bench.advance(DAY - 30_000)
  const run = await bench.start('root')
  await turns()
  expect(await stateOf(bench, run)).toMatchObject({ status: 'Running', hold: { reason: 'quota_spent' } })
  await bench.advance(30_000)
  expect(await stateOf(bench, run)).toMatchObject({ status: 'Completed' })
})

test('a server that starts with a larger plan lets held runs go on at once', async () => {
  const bench = await openPayer({ plan: { tokens: 20 } })
  const run = await bench.start('root')
  await turns()
  await bench.engine.close(0)
  const larger = createEngine({ ...bench.parts, worker: 'host:99', plan: { tokens: 1000 } })
  await larger.recover()
  await turns()
  expect(await stateOf(bench, run)).toMatchObject({ status: 'Completed' })
  await larger.close(0)
})

test('svc/on-outage fail ends the run, and says why', async () => {
  const bench = await openPayer({ plan: { tokens: 20 } }, { onOutage: 'fail' })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(await stateOf(bench, run)).toMatchObject({
    status: 'Failed',
    error: 'The workspace has used up its plan of the day.',
    errorCode: 'limit_exceeded',
  })
})

test('a run that is held longer than svc/max-outage fails', async () => {
  const bench = await openPayer({ plan: { tokens: 20 } }, { maxOutageMs: 60_000 })
  const run = await bench.start('root')
  await bench.advance(60_000)
  expect(await stateOf(bench, run)).toMatchObject({
    status: 'Failed',
    error: 'Held for 60 s, the longest that is allowed. The workspace has used up its plan of the day.',
    errorCode: 'outage',
  })
})

test('what a completion had reserved when its process died is free once it is booked', async () => {
  const first: ModelReply = { text: '', after: 'silence' }
  let asked = 0
  const bench = await openPayer({ plan: { tokens: 100 }, models: { root: () => (asked++ === 0 ? first : 'Hello.') } })
  const run = await bench.start('root')
  await turns()
  await bench.restart()
  await bench.waitForEnd(run)
  const next = await bench.start('root')
  await bench.waitForEnd(next)
  expect(await stateOf(bench, next)).toMatchObject({ status: 'Completed' })
})

interface Spending {
  /** Tokens that were spent by the end of each completion, and those of the completion. */
  readonly ends: readonly { readonly spent: number; readonly own: number }[]
  /** Completions that began when the cap was spent already. */
  readonly late: number
  readonly open: number
}

/** Runs of two processes that think for a while, over as many days as they need. */
async function spend(cap: number, runs: readonly (readonly number[])[], store?: BenchSpec['store']): Promise<Spending> {
  const ends: { spent: number; own: number }[] = []
  const waiting: (() => void)[] = []
  let late = 0
  const spentOn = new Map<number, number>()
  const today = (): number => Math.floor(bench.clock.now() / DAY)
  const bench: Bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [pay] }), maxOutageMs: 1000 * DAY }],
    models: {
      root: ({ run }) => {
        if ((spentOn.get(today()) ?? 0) >= cap) late++
        return new Promise((answer) => {
          waiting.push(() => {
            const own = 2 * (run.input['tokens'] as number[])[run.turn - 1]!
            const isLast = run.turn === (run.input['tokens'] as number[]).length
            const spent = (spentOn.get(today()) ?? 0) + own
            spentOn.set(today(), spent)
            ends.push({ spent, own })
            answer({ tokens: own / 2, ...(isLast ? { text: 'Done.' } : { calls: [{ name: 'pay' }] }) })
          })
        })
      },
    },
    tools: { pay: () => returns('paid') },
    plan: { tokens: cap },
    ...(store && { store }),
  })
  // Renewals of leases would be most of what happens in a day.
  const leaseTimes = { ttlMs: 1000 * DAY, marginMs: 0 }
  const engines = ['host:98', 'host:99'].map((worker) =>
    createEngine({ ...bench.parts, worker, timers: bench.timers, leaseTimes }),
  )
  const started = await Promise.all(
    runs.map(async (tokens, at) => (await engines[at % 2]!.start(startOf('root', { tokens: [...tokens] }))).runId),
  )
  const isOpen = async (): Promise<number> => {
    const all = await Promise.all(started.map(async (id) => (await bench.store.run(id as RunId))!.status))
    return all.filter((status) => status !== 'Completed').length
  }
  for (let round = 0; round < 400 && (await isOpen()) > 0; round++) {
    await turns(20)
    waiting.shift()?.()
    await turns(20)
    await bench.advance(30_000)
    if (waiting.length > 0 || (await isOpen()) === 0) continue
    // Nothing moves any more until the next day.
    await bench.advance(DAY - ((bench.clock.now() - T0) % DAY) + 600_000)
  }
  const open = await isOpen()
  for (const engine of engines) await engine.close(0)
  return { ends, late, open }
}

const manyRuns = fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 2 }), {
  minLength: 2,
  maxLength: 5,
})

test('runs of two processes exceed the cap by one completion at most, and all of them end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 20, max: 400 }), manyRuns, async (cap, runs) => {
      const { ends, late, open } = await spend(cap, runs)
      expect(ends.filter(({ spent, own }) => spent - own >= cap)).toEqual([])
      expect([late, open]).toEqual([0, 0])
    }),
    { numRuns: 6 },
  )
})

test('without reservations in the store runs slip under the cap: the test notices', async () => {
  const careless = (store: Store): Store => ({
    ...store,
    save: ({ plan: _plan, ...update }, holder) => store.save(update, holder),
    start: ({ plan: _plan, ...update }, ...given) => store.start(update, ...given),
  })
  const { ends } = await spend(50, [[40], [40], [40], [40]], careless)
  expect(ends.filter(({ spent, own }) => spent - own >= 50)).not.toEqual([])
})
