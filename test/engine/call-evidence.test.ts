/**
 * Why an agent makes a call that waits for a person: what its model said, and the results that it had.
 * Source: docs/design/approvals.md#the-card
 */
import { expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import type { TaskRecord } from '../../src/spec/task.ts'
import { boundAgent, openBench, policy, returns, snapshotOf, tool, turns, WORKSPACE, type ModelReply } from './bench.ts'

const pay = tool('pay', {
  sideEffectClass: 'non_idempotent_write',
  labels: { 'svc/summary': 'Pay {args.amount} EUR for {args.order}' },
})
const TOOLS = [tool('orders'), tool('weather'), pay]

/** The task about a payment, after the model took these turns. */
async function taskAfter(
  before: readonly ModelReply[],
  answers: Readonly<Record<string, JsonValue>> = {},
  last: ModelReply = { calls: [{ name: 'pay', args: { order: 'A-1042', amount: 180 } }] },
): Promise<TaskRecord> {
  const helper = snapshotOf({ name: 'helper', tools: [] })
  const root = snapshotOf({
    name: 'root',
    tools: TOOLS,
    agents: [boundAgent(helper)],
    policies: [{ on: ['pay'], entry: policy('ask', {}) }],
  })
  const bench = await openBench({
    agents: [root, helper],
    models: {
      root: ({ run }) => [...before, last][run.turn - 1] ?? 'Done.',
      helper: () => (typeof answers['helper'] === 'string' ? answers['helper'] : 'Nothing.'),
    },
    tools: Object.fromEntries(
      ['orders', 'weather', 'pay'].map((name) => [
        name,
        () => returns(answers[name] ?? null, answers[name] === 'gone'),
      ]),
    ),
  })
  await bench.start('root', {})
  await turns(300)
  const { items } = await bench.store.tasks({ workspaceId: WORKSPACE, all: true }, { skip: 0, take: 1 })
  await bench.engine.close(0)
  return items[0]!
}

const look = (args: Record<string, JsonValue> = { order: 'A-1042' }): ModelReply => ({
  text: 'Let me look.',
  calls: [{ name: 'orders', args }],
})

test('a task tells what the call does, what the model said, and the results about its arguments', async () => {
  const task = await taskAfter(
    [
      look(),
      { calls: [{ name: 'weather', args: { place: 'Bonn' } }] },
      { calls: [{ name: 'helper', args: { message: 'Is it a fraud?' } }] },
    ],
    { orders: { damaged: true }, weather: 'rain', helper: 'No: risk low.' },
    { text: 'It arrived  broken,\nso I pay.', calls: [{ name: 'pay', args: { order: 'A-1042', amount: 180 } }] },
  )
  const { summary, reasoning, evidence } = task
  expect({ summary, reasoning, evidence }).toEqual({
    summary: 'Pay 180 EUR for A-1042',
    reasoning: 'It arrived broken, so I pay.',
    evidence: [
      { ref: 'acme.orders', about: ['order'], result: '{"damaged":true}' },
      { ref: 'acme.helper', about: [], result: '"No: risk low."' },
    ],
  })
})

test('a model that says nothing beside its call is told by what it said last', async () => {
  expect((await taskAfter([look()], { orders: 1 })).reasoning).toBe('Let me look.')
  expect((await taskAfter([])).reasoning).toBeUndefined()
})

test('a result that failed is told as one, and one in which an argument stands counts without its request', async () => {
  expect((await taskAfter([look()], { orders: 'gone' })).evidence).toEqual([
    { ref: 'acme.orders', about: ['order'], result: '"gone"', failed: true },
  ])
  expect((await taskAfter([look({})], { orders: ['A-1041', 'A-1042'] })).evidence).toEqual([
    { ref: 'acme.orders', about: ['order'], result: '["A-1041","A-1042"]' },
  ])
})

test('at most four results are told, the newest, each cut', async () => {
  const { evidence = [] } = await taskAfter(
    Array.from({ length: 6 }, () => look()),
    { orders: 'x'.repeat(1000) },
  )
  expect(evidence.map(({ result }) => result)).toEqual(Array.from({ length: 4 }, () => `"${'x'.repeat(239)}…`))
})
