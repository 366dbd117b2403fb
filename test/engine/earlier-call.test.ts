/**
 * A payment of a run that does the work of another one asks, in whatever words its model makes it.
 * Source: docs/design/approvals.md#repeated-calls
 */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { RunId } from '../../src/base/ids.ts'
import { readForkSource } from '../../src/engine/fork.ts'
import type { ForkRequest } from '../../src/engine/interface/engine.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import { inOrder, openBench, operator, policy, returns, snapshotOf, startOf, tool, turns, type Bench } from './bench.ts'

const olga = operator() as ForkRequest['by']
const GRANT = policy('grant', { effect: 'grant' })
/** A policy whose question answers itself after half an hour. */
const SELF_ANSWERING = policy('ask', { obligations: { timeout: { after_minutes: 30, default: 'allow' } } })

/** A run that pays with these arguments, in order, and then answers; those after it pay with `again`. */
async function openShop(
  first: readonly JsonObject[],
  again: readonly JsonObject[],
  entry: PolicyEntry = GRANT,
  sideEffectClass: SideEffectClass = 'irreversible_action',
) {
  const script = (all: readonly JsonObject[]) =>
    inOrder(...all.map((args) => ({ calls: [{ name: 'pay', args }] })), 'Paid.')
  const models = [script(first), script(again)]
  let runs = new Set<string>()
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [tool('pay', { sideEffectClass }), tool('look')],
        policies: [{ on: ['pay'], entry }],
      }),
    ],
    models: {
      root: (request, signal) => {
        runs = runs.add(request.run.id)
        return models[Math.min(runs.size, 2) - 1]!(request, signal)
      },
    },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await turns()
  const paid = () => bench.invoked.map(({ arguments: args }) => args)
  const tasks = async (of: RunId) =>
    (await bench.store.tasksOfSession((await bench.store.run(of))!.sessionId)).filter(
      ({ status }) => status === 'pending',
    )
  return { bench, run, paid, tasks }
}

async function retry(bench: Bench, run: RunId): Promise<RunId> {
  const { sessionId } = (await bench.store.run(run))!
  const origin = { kind: 'retry', runId: run, sessionId } as const
  const { runId } = await bench.engine.start(startOf('root', {}, { principal: olga, origin }))
  await turns()
  return runId as RunId
}

async function fork(bench: Bench, run: RunId, nth = 0): Promise<RunId> {
  const source = await readForkSource(bench.store, run)
  const at = source.steps.filter(({ type }) => type === 'ToolResult' || type === 'UserMessage')[nth]!.ordinal
  const version = (await bench.store.version(source.run.agentVersionId))!
  const { runId } = await bench.engine.fork(source, {
    by: olga,
    at,
    edits: [],
    version,
    limits: startOf('root').limits,
  })
  await turns()
  return runId
}

const A1 = { order: 'A-1', amount: 5 }

/** Ways in which another answer of a model words the payment of A-1. Add a line for another one. */
const WORDS: readonly (readonly [string, JsonObject])[] = [
  ['the same words', A1],
  ['one more field', { ...A1, note: 'second try' }],
  ['one field less', { order: 'A-1' }],
  ['another spelling', { order: 'a-1', amount: '5.00' }],
  ['another amount', { order: 'A-1', amount: 6 }],
]

for (const [verb, repeat] of [
  ['retry', retry],
  ['fork', fork],
] as const)
  test.each(WORDS)(`a ${verb} that pays in %s asks, and shows the earlier payment beside it`, async (_, words) => {
    const { bench, run, paid, tasks } = await openShop([A1], [words])
    const again = await repeat(bench, run)
    expect(paid()).toEqual([A1])
    const [task] = await tasks(again)
    expect(task).toMatchObject({
      reason: 'duplicate_call',
      arguments: words,
      context: { earlier_call: { run_id: run, tool: 'acme.pay', state: 'executed', arguments: A1 } },
    })
    expect(task!.prompt).toContain(`called with ${words === A1 ? 'the same' : 'other'} arguments before in run ${run}`)
    await bench.engine.answer(again, { taskId: task!.id, approved: true, by: olga })
    await turns()
    expect([paid(), await tasks(again)]).toEqual([[A1, words], []])
  })

test('a run that repeats none pays the same without a question: the test before notices', async () => {
  const { bench, paid } = await openShop([A1], [A1])
  await bench.start('root')
  await turns()
  expect(paid()).toEqual([A1, A1])
})

test('a payment that a fork took over is its own past, and one that it did not take over asks', async () => {
  const B2 = { order: 'B-2', amount: 7 }
  const one = await openShop([A1], [A1, B2])
  const forked = await fork(one.bench, one.run, 1)
  expect([one.paid(), await one.tasks(forked)]).toEqual([[A1, B2], []])
  const two = await openShop([A1, B2], [A1, { ...B2, note: 'again' }])
  const asked = await fork(two.bench, two.run, 1)
  expect(two.paid()).toEqual([A1, B2])
  expect(await two.tasks(asked)).toMatchObject([{ context: { earlier_call: { arguments: B2 } } }])
})

test('a question about an earlier payment waits for a person, also where a policy lets time answer', async () => {
  const { bench, run, paid, tasks } = await openShop(
    [A1],
    [{ ...A1, note: 'again' }],
    SELF_ANSWERING,
    'non_idempotent_write',
  )
  await bench.advance(31 * 60_000)
  expect(paid()).toEqual([A1])
  const again = await retry(bench, run)
  expect(await tasks(again)).toMatchObject([{ reason: 'because of ask; duplicate_call', onTimeout: 'deny' }])
  await bench.advance(62 * 60_000)
  expect(paid()).toEqual([A1])
})
