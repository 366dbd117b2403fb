/**
 * Budgets that bind together: totals by key and over the whole workspace, and standing authorities.
 * Source: docs/design/policies.md#what-history-counts
 */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import { openBench, policy, replyTo, returns, snapshotOf, T0, tool, turns, WORKSPACE, type Bench } from './bench.ts'

const ARGS = { type: 'object', properties: { amount: { type: 'number' }, customer: { type: 'string' } } }
const pay = tool('pay', { inputSchema: ARGS, inputSchemas: [ARGS], sideEffectClass: 'irreversible_action' })

const upTo500: PolicyEntry = policy('small', {
  effect: 'grant',
  when: { field: 'history.workspace.this_tool.total(args.amount)', op: 'lte', value: 500, window: '24h' },
  obligations: { standing: 'small-refunds' },
})

async function openDesks(entry: PolicyEntry): Promise<Bench> {
  const names = ['root', 'other']
  return openBench({
    agents: names.map((name) => snapshotOf({ name, tools: [pay], policies: [{ on: ['pay'], entry }] })),
    models: Object.fromEntries(
      names.map((name) => [
        name,
        ({ run }) => {
          const calls = (run.input['calls'] as unknown as JsonObject[])[run.turn - 1]
          return calls ? { calls: [{ name: 'pay', args: calls }] } : 'Done.'
        },
      ]),
    ),
    tools: { pay: () => returns('paid') },
  })
}
const paying = (...calls: JsonObject[]): JsonObject => ({ calls: calls as JsonValue })
const ends = async (bench: Bench, ...runs: RunId[]): Promise<string[]> =>
  Promise.all(runs.map(async (run) => (await bench.store.run(run))!.status))

test('a sum over the workspace binds runs of all agents, until its window has passed', async () => {
  const bench = await openDesks(upTo500)
  await bench.waitForEnd(await bench.start('root', paying({ amount: 300 })))
  await bench.waitForEnd(await bench.start('other', paying({ amount: 200 })))
  const third = await bench.start('root', paying({ amount: 1 }))
  await bench.waitForTask(third)
  expect(bench.invoked).toHaveLength(2)
  await bench.advance(86_400_001)
  await bench.waitForEnd(await bench.start('other', paying({ amount: 400 })))
  expect(bench.invoked).toHaveLength(3)
})

test('concurrent calls of many runs never slip under a sum', async () => {
  const bench = await openDesks(upTo500)
  const runs = await Promise.all(
    Array.from({ length: 12 }, async (_, at) => bench.start(at % 2 === 0 ? 'root' : 'other', paying({ amount: 100 }))),
  )
  await turns(200)
  expect(bench.invoked).toHaveLength(5)
  const statuses = await ends(bench, ...runs)
  expect(statuses.filter((status) => status === 'Completed')).toHaveLength(5)
  expect(statuses.filter((status) => status === 'WaitingForHITL')).toHaveLength(7)
})

test('a save that counted before another one decided is refused, and decided again', async () => {
  let raced = false
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], policies: [{ on: ['pay'], entry: upTo500 }] })],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay', args: { amount: 300 } }] } : 'Done.') },
    tools: { pay: () => returns('paid') },
    store: (store) => ({
      ...store,
      // As another process would between the count and the save.
      save: async (update) => {
        if (update.historySeen !== undefined && !raced) {
          raced = true
          await store.setStandingRevoked(WORKSPACE, {
            name: 'small-refunds',
            isRevoked: true,
            at: T0,
            by: 'operator:olga',
            reason: 'fraud wave',
          })
        }
        return store.save(update)
      },
    }),
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(bench.invoked).toHaveLength(0)
  expect(task['policies']).toMatchObject([
    { id: 'acme.small', matched: false, condition: 'small-refunds was ended by an operator' },
  ])
})

test('a revoked standing authority grants nothing, and grants again once it is restored', async () => {
  const bench = await openDesks(upTo500)
  const set = (isRevoked: boolean) =>
    bench.store.setStandingRevoked(WORKSPACE, {
      name: 'small-refunds',
      isRevoked,
      at: T0,
      by: 'operator:olga',
      reason: 'x',
    })
  await set(true)
  const waiting = await bench.start('root', paying({ amount: 5 }))
  const task = await bench.waitForTask(waiting)
  await bench.engine.answer(waiting, replyTo(task))
  await bench.waitForEnd(waiting)
  expect(bench.invoked).toHaveLength(1)
  await set(false)
  await bench.waitForEnd(await bench.start('root', paying({ amount: 5 })))
  expect(bench.invoked).toHaveLength(2)
})

test('by counts only calls with the same value, and is unknown where this call has none', async () => {
  const perCustomer = policy('per-customer', {
    effect: 'grant',
    when: {
      field: 'history.window.this_tool.total(args.amount)',
      op: 'lte',
      value: 100,
      window: '24h',
      by: 'args.customer',
    },
  })
  const bench = await openDesks(perCustomer)
  for (const customer of ['ana', 'bo'])
    await bench.waitForEnd(await bench.start('root', paying({ amount: 80, customer })))
  await bench.waitForTask(await bench.start('root', paying({ amount: 30, customer: 'ana' })))
  await bench.waitForTask(await bench.start('root', paying({ amount: 1 })))
  expect(bench.invoked).toHaveLength(2)
})
