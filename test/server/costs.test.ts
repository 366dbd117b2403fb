/** Costs through a whole server: own prices of the project file, sums for operators, and the plan of a day. */
import { expect, test } from 'vitest'
import type { RunStatusBody } from '../../src/spec/api.ts'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import type { CostView } from '../../src/operations/insight.ts'
import type { RunView } from '../../src/operations/runs.ts'
import { running, scripted } from './running.ts'

const usage = { input_tokens: 1000, output_tokens: 100 }
const prices = { scripted: { '*': { input: '3', output: '15' } } }
const HELLO = scripted([{ say: 'Hello.', usage }])

async function priced(config: object = {}) {
  const house = await running({ snapshot: HELLO, config: { prices, ...config } })
  const run = async () => {
    const { status, body } = await house.start()
    if (status === 202) await house.until(body['runId']!, 'engine.session.completed')
    return { status, body }
  }
  const costs = (query = '') => house.operator(`GET /costs${query}`) as Promise<OperatorRoutes['GET /costs']['answer']>
  return { ...house, run, costs }
}

test('an operator sees what a run and its session cost, and a key does not', async () => {
  const { run, get, operator } = await priced()
  const { body } = await run()
  const cost = { amounts: { USD: '0.0045' }, unpriced: 0 }
  expect(((await operator(`GET /v1/runs/${body['runId']}`)) as RunStatusBody).cost).toEqual(cost)
  expect('cost' in (await get<RunStatusBody>(`/v1/runs/${body['runId']}`))).toBe(false)
  const { items } = (await operator('GET /sessions')) as OperatorRoutes['GET /sessions']['answer']
  expect(items.map((session) => session.cost)).toEqual([cost])
  const runs = (await operator('GET /runs')) as { items: RunView[] }
  expect(runs.items.map((each) => each.cost)).toEqual([cost])
})

test('sums are kept by agent, version, model and day, and grouped as asked', async () => {
  const { run, costs } = await priced()
  await run()
  await run()
  const sums = {
    completions: 2,
    inputTokens: 2000,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 200,
    reasoningTokens: 0,
    cost: { amounts: { USD: '0.009' }, unpriced: 0 },
  }
  const day = new Date().toISOString().slice(0, 10)
  expect(await costs()).toEqual({
    items: [{ agent: 'acme.refund-desk', provider: 'scripted', model: 'script', ...sums }],
    total: 1,
    sum: sums,
  })
  expect((await costs('?by=version')).items).toEqual([{ version: '1.0.0', ...sums }] satisfies CostView[])
  expect((await costs('?by=day')).items).toEqual([{ day, ...sums }] satisfies CostView[])
  expect((await costs('?until=2020-01-01')).items).toEqual([])
  await expect(costs('?by=colour')).rejects.toThrow('must name agent, version, model or day')
  await expect(costs('?since=soon')).rejects.toThrow('must be a time')
})

test('plan.cost_per_day refuses the next start once the day has cost as much', async () => {
  const { run } = await priced({ plan: { cost_per_day: '0.009 USD' } })
  expect((await run()).status).toBe(202)
  expect((await run()).status).toBe(202)
  const { status, body } = await run()
  expect([status, body['code'], body['error']]).toEqual([
    403,
    'plan_limit_exceeded',
    "The workspace's plan allows 0.009 USD (cost_per_day).",
  ])
})

test('a run with a cap and no price is refused with the remedy, before anything is sent', async () => {
  const capped = scripted([{ say: 'Hello.' }], [], { maxCost: { amount: '1', currency: 'EUR' } })
  const house = await running({ snapshot: capped, config: { prices } })
  const { status, body } = await house.start()
  expect([status, body['code']]).toEqual([422, 'price_unknown'])
  expect(body['error']).toContain('no price of scripted/script in EUR is known')
})

test('says how runs ended and how long they waited for people, by version', async () => {
  const { run, operator } = await priced()
  await run()
  const outcomes = async (query = ''): Promise<OperatorRoutes['GET /outcomes']['answer']> =>
    (await operator(`GET /outcomes${query}`)) as never
  const waited = { runs: 0, medianMs: 0, longestMs: 0, totalMs: 0 }
  expect(await outcomes()).toEqual({
    items: [
      {
        agent: 'acme.refund-desk',
        version: '1.0.0',
        runs: 1,
        open: 0,
        completed: 1,
        cancelled: 0,
        failures: [],
        waited,
      },
    ],
    total: 1,
    counted: 1,
  })
  expect(await outcomes('?since=2100-01-01')).toEqual({ items: [], total: 0, counted: 0 })
  await expect(outcomes('?agent=acme.nobody')).rejects.toThrow('acme.nobody')
})
