/** Effect keys over runs: at most one call of a workspace holds a key. Source: docs/design/policies.md#effect-keys */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { BoundTool } from '../../src/spec/snapshot.ts'
import {
  inOrder,
  openBench,
  operator,
  policy,
  replyTo,
  returns,
  snapshotOf,
  T0,
  tool,
  turns,
  WORKSPACE,
  type Bench,
  type ToolFunction,
} from './bench.ts'

const ORDER = { type: 'object', properties: { order: { type: 'string' }, amount: { type: 'number' } } }
const pay = (about: Partial<BoundTool> = {}): BoundTool =>
  tool('pay', {
    inputSchema: ORDER,
    inputSchemas: [ORDER],
    sideEffectClass: 'non_idempotent_write',
    labels: { 'svc/effect-key': 'refund:{args.order}' },
    ...about,
  })

interface Case {
  readonly bound?: BoundTool
  readonly args?: readonly JsonObject[]
  readonly pay: ToolFunction
  readonly timeoutMs?: number
}

/** An agent that pays what its input names. */
async function openDesk({ bound = pay(), pay: paid, timeoutMs }: Case): Promise<Bench> {
  return openBench({
    agents: [snapshotOf({ name: 'root', tools: [bound] }), snapshotOf({ name: 'other', tools: [bound] })],
    models: Object.fromEntries(
      ['root', 'other'].map((name) => [
        name,
        (request) => {
          const calls = request.run.input['calls'] as unknown as JsonObject[][]
          const now = calls[request.run.turn - 1]
          return now ? { calls: now.map((args) => ({ name: 'pay', args })) } : 'Done.'
        },
      ]),
    ),
    tools: { pay: paid },
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
}

const A1 = { order: 'A-1', amount: 30 }
const once = (...calls: JsonObject[]): JsonObject => ({ calls: calls.map((each) => [each]) as unknown as JsonValue[] })
const resultsOf = async (bench: Bench, run: RunId): Promise<JsonValue[]> =>
  (await bench.timeline(run)).filter(({ type }) => type === 'ToolResult').map(({ content }) => content['result']!)
const held = async (bench: Bench): Promise<unknown[]> =>
  (await bench.store.effects({ workspaceId: WORKSPACE, holds: true }, { skip: 0, take: 10 })).map(
    ({ key, state, runId }) => [key, state, runId],
  )

test('stops a second run with the key, and shows the approver the earlier call', async () => {
  const bench = await openDesk({ pay: () => returns('paid') })
  const first = await bench.start('root', once(A1))
  await bench.waitForEnd(first)
  await bench.advance(60_000)
  const second = await bench.start('other', once({ order: 'A-1', amount: 31 }))
  const task = await bench.waitForTask(second)
  expect(task).toMatchObject({
    prompt: `effect_repeated: refund:A-1 was made at 2026-01-01T00:00:00.000Z, by run ${first} of acme.root.`,
    reason: 'effect_repeated',
    effect: {
      key: 'refund:A-1',
      previous: {
        tool: 'acme.pay',
        run_id: first,
        agent: 'acme.root',
        version: '1.0.0',
        at: '2026-01-01T00:00:00.000Z',
        age_seconds: 60,
        outcome: 'done',
        same_args: false,
        approved_by: [],
      },
    },
  })
  expect(bench.invoked).toHaveLength(1)
  await bench.engine.answer(second, replyTo(task))
  await bench.waitForEnd(second)
  expect(bench.invoked).toHaveLength(2)
  expect(await held(bench)).toEqual([['refund:A-1', 'done', second]])
})

test('lets another key through, and a call without the argument only with an approval', async () => {
  const bench = await openDesk({ pay: () => returns('paid') })
  const run = await bench.start('root', once(A1, { order: 'A-2' }, { amount: 1 }))
  const task = await bench.waitForTask(run)
  expect(task['prompt']).toBe(
    'effect_key_incomplete: the call has no args.order, so it cannot be told whether it repeats another one.',
  )
  expect(bench.invoked).toHaveLength(2)
})

test('refuses a repetition where the tool says so, and tells the model', async () => {
  const labels = { 'svc/effect-key': 'refund:{args.order}', 'svc/effect-repeat': 'refuse' }
  const bench = await openDesk({ bound: pay({ labels }), pay: () => returns('paid') })
  const first = await bench.start('root', once(A1))
  await bench.waitForEnd(first)
  const second = await bench.start('root', once(A1))
  await bench.waitForEnd(second)
  expect(await resultsOf(bench, second)).toMatchObject([
    {
      error: 'denied',
      reason: 'effect_repeated',
      message: `refund:A-1 was made at 2026-01-01T00:00:00.000Z, by run ${first} of acme.root.`,
    },
  ])
  expect(bench.invoked).toHaveLength(1)
})

test('gives an idempotent write the earlier result, marked, and asks where the arguments differ', async () => {
  const bench = await openDesk({ bound: pay({ sideEffectClass: 'idempotent_write' }), pay: () => returns({ id: 7 }) })
  await bench.waitForEnd(await bench.start('root', once(A1)))
  const second = await bench.start('root', once(A1))
  await bench.waitForEnd(second)
  const [result] = (await bench.timeline(second)).filter(({ type }) => type === 'ToolResult')
  expect(result!.content).toMatchObject({ result: { id: 7 }, is_error: false, repeated: true })
  const third = await bench.start('root', once({ order: 'A-1', amount: 99 }))
  await bench.waitForTask(third)
  expect(bench.invoked).toHaveLength(1)
})

test('a second call waits while the first is under way, and is decided when that one ends', async () => {
  let finish: (() => void) | undefined
  const bench = await openDesk({
    pay: () => new Promise((resolve) => (finish = () => resolve(returns('paid')))),
  })
  const first = await bench.start('root', once(A1))
  await turns()
  const second = await bench.start('other', once(A1))
  await turns()
  expect((await bench.store.run(second))!.status).toBe('Running')
  finish!()
  await bench.waitForEnd(first)
  const task = await bench.waitForTask(second)
  expect((task['effect'] as JsonObject)['previous']).toMatchObject({ outcome: 'done', run_id: first })
})

test('asks about a first call that is still under way after the time of the second', async () => {
  const bench = await openDesk({ pay: () => new Promise(() => {}), timeoutMs: 20_000 })
  await bench.start('root', once(A1))
  await turns()
  const second = await bench.start('other', once(A1))
  await bench.advance(19_000)
  expect((await bench.store.run(second))!.status).toBe('Running')
  await bench.advance(1500)
  const task = await bench.waitForTask(second)
  expect((task['effect'] as JsonObject)['previous']).toMatchObject({ outcome: 'in_flight' })
})

test('takes the key back from a call that certainly did not happen', async () => {
  const outcomes = [
    { at: 'not_sent', code: 'refused', error: 'Not today.' } as const,
    { ...returns('declined', true), notExecuted: true as const },
    returns('paid'),
  ]
  const bench = await openDesk({ pay: () => outcomes.shift()! })
  const runs: RunId[] = []
  for (let at = 0; at < 3; at++) {
    runs.push(await bench.start('root', once(A1)))
    await bench.waitForEnd(runs[at]!)
  }
  expect(bench.invoked).toHaveLength(3)
  expect(await held(bench)).toEqual([['refund:A-1', 'done', runs[2]]])
})

test('holds the key of a call that failed without saying that it did nothing', async () => {
  const bench = await openDesk({ pay: () => returns('No answer from the bank.', true) })
  await bench.waitForEnd(await bench.start('root', once(A1)))
  const second = await bench.start('root', once(A1))
  const task = await bench.waitForTask(second)
  expect((task['effect'] as JsonObject)['previous']).toMatchObject({ outcome: 'unknown' })
})

test.each([
  ['skip', false],
  ['happened', true],
  ['stop', true],
] as const)('after a review that says %s the key is held: %s', async (selectedOptionId, isHeld) => {
  const outcomes = [{ at: 'unknown', code: 'timeout', error: 'No answer.' } as const]
  const bench = await openDesk({ pay: () => outcomes.shift() ?? returns('paid') })
  const first = await bench.start('root', once(A1))
  const review = await bench.waitForTask(first)
  expect(await held(bench)).toEqual([['refund:A-1', 'unknown', first]])
  await bench.engine.answer(first, {
    taskId: review['user_task_id'] as never,
    selectedOptionId,
    textValue: 'seen',
    by: operator(),
  })
  await bench.waitForEnd(first)
  expect((await held(bench)).length > 0).toBe(isHeld)
})

test('an approval does not cover an earlier call that the approver did not see', async () => {
  const bench = await openDesk({ bound: pay({ sideEffectClass: 'irreversible_action' }), pay: () => returns('paid') })
  const [first, second] = [await bench.start('root', once(A1)), await bench.start('other', once(A1))]
  const [one, two] = [await bench.waitForTask(first), await bench.waitForTask(second)]
  expect(two['effect']).toEqual({ key: 'refund:A-1' })
  await bench.engine.answer(first, replyTo(one))
  await bench.waitForEnd(first)
  await bench.engine.answer(second, replyTo(two))
  const again = await bench.waitForTask(second, 2)
  expect(bench.invoked).toHaveLength(1)
  expect((again['effect'] as JsonObject)['previous']).toMatchObject({ run_id: first, approved_by: ['key:k1'] })
  await bench.engine.answer(second, replyTo(again))
  await bench.waitForEnd(second)
  expect(bench.invoked).toHaveLength(2)
})

test.each([
  ['retention has deleted the run', (bench: Bench) => bench.store.deleteEndedSessions(T0 + 1000, 10)],
  ['all runs were deleted', (bench: Bench) => bench.store.deleteAllRuns()],
])('holds the key until its window has passed, also after %s', async (_, forget) => {
  const labels = { 'svc/effect-key': 'refund:{args.order}', 'svc/effect-window': '1h', 'svc/effect-repeat': 'refuse' }
  const bench = await openDesk({ bound: pay({ labels }), pay: () => returns('paid') })
  await bench.waitForEnd(await bench.start('root', once(A1)))
  await forget(bench)
  expect((await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 10 })).items).toEqual([])
  await bench.advance(3_599_000)
  await bench.waitForEnd(await bench.start('root', once(A1)))
  expect(bench.invoked).toHaveLength(1)
  await bench.advance(1000)
  await bench.waitForEnd(await bench.start('root', once(A1)))
  expect(bench.invoked).toHaveLength(2)
})

test('a release by an operator lets the effect happen again, and is recorded', async () => {
  const bench = await openDesk({ pay: () => returns('paid') })
  const first = await bench.start('root', once(A1))
  await bench.waitForEnd(first)
  const released = await bench.store.releaseEffect(WORKSPACE, 'refund:A-1', 'operator:olga', 'sent back', T0 + 5)
  expect(released.map(({ runId }) => runId)).toEqual([first])
  await bench.waitForEnd(await bench.start('root', once(A1)))
  expect(bench.invoked).toHaveLength(2)
  const all = await bench.store.effects({ workspaceId: WORKSPACE, key: 'refund:A-1' }, { skip: 0, take: 10 })
  expect(all.map((each) => each.released)).toEqual([
    undefined,
    { at: T0 + 5, by: 'operator:olga', reason: 'sent back' },
  ])
})

test('policies see the key and the earlier call', async () => {
  const bound = pay()
  const seen = policy('seen', { effect: 'deny', when: { field: 'effect.repeated', value: true } })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [bound], policies: [{ on: ['pay'], entry: seen }] })],
    models: { root: inOrder({ calls: [{ name: 'pay', args: A1 }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  await bench.waitForEnd(await bench.start('root'))
  const second = await bench.start('root')
  await bench.waitForEnd(second)
  expect(await resultsOf(bench, second)).toMatchObject([{ error: 'denied', message: 'because of seen' }])
})

test('two calls of one completion with one key: the second waits for the first, then a person is asked', async () => {
  const bench = await openDesk({ pay: () => returns('paid') })
  const run = await bench.start('root', { calls: [[A1, { order: 'A-1', amount: 2 }]] as unknown as JsonValue })
  const task = await bench.waitForTask(run)
  expect((task['effect'] as JsonObject)['previous']).toMatchObject({ run_id: run, outcome: 'done' })
  expect(bench.invoked).toHaveLength(1)
})
