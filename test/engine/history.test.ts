/** What conditions on `history` count in runs that happen. Source: docs/design/policies.md#what-history-counts */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import { boundAgent, inOrder, openBench, policy, reply, returns, snapshotOf, tool, type Bench } from './bench.ts'

const MEASURES = ['attempts', 'executed', 'denied', 'rejected', 'failed', 'total(args.n)']
const number = { type: 'object', properties: { n: { type: 'number' } } }
const counted = { inputSchema: number, inputSchemas: [number], sideEffectClass: 'idempotent_write' } as const
const [pay, note, break_] = [tool('pay', counted), tool('note', counted), tool('break', counted)]

/** Never fires; what it asks for is kept with each decision. */
const asking = (...paths: string[]): PolicyEntry =>
  policy('measures', {
    effect: 'deny',
    when: {
      any: paths.flatMap((path) =>
        MEASURES.map((measure) => ({
          field: `history.${path}.${measure}`,
          op: 'lt',
          value: 0,
          ...(path.startsWith('window') && { window: '10m' }),
        })),
      ),
    },
  })
const big = policy('big', { when: { field: 'args.n', op: 'gt', value: 50, if_missing: false } })
const unlucky = policy('unlucky', { effect: 'deny', when: { field: 'args.n', value: 13, if_missing: false } })

/** The measures of each decision that asked for them, in the order above; null where they cannot be told. */
async function seen(bench: Bench, run: RunId, path: string): Promise<unknown[]> {
  const window = path.startsWith('window') ? ' (10m)' : ''
  const steps = await bench.store.stepsOfRun(run)
  return steps
    .filter(({ type }) => type === 'PolicyDecision')
    .map(({ hidden }) => (hidden!['facts'] as { history?: JsonObject }).history)
    .filter((history) => history !== undefined)
    .map((history) => MEASURES.map((measure) => history[`history.${path}.${measure}${window}`]))
}

const call = (name: string, n?: unknown) => ({ name, args: n === undefined ? {} : ({ n } as JsonObject) })

test('counts attempts, outcomes and sums of a run: invalid calls are not attempts, calls that wait or run count as executed', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [pay, note, break_],
        policies: [
          { on: ['pay', 'break'], entry: asking('run.this_tool', 'run.same_args', 'session.all_tools') },
          { on: ['pay'], entry: big },
          { on: ['pay'], entry: unlucky },
        ],
      }),
    ],
    models: {
      root: inOrder(
        { calls: [call('pay', 1)] },
        { calls: [call('pay', 13)] },
        { calls: [call('pay', 60)] },
        { calls: [call('note', 1000)] },
        { calls: [call('break', 5)] },
        { calls: [call('pay', 'x')] },
        { calls: [call('pay', 70), call('pay', 80)] },
        { calls: [call('pay', 1)] },
        'Done.',
      ),
    },
    tools: { pay: () => returns('paid'), note: () => returns('noted'), break: () => returns('broken', true) },
  })
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run, 1), { approved: false }))
  await bench.waitForTask(run, 2)
  for (const count of [2, 3]) await bench.engine.answer(run, reply(await bench.waitForTask(run, count)))
  await bench.waitForEnd(run)
  expect(await seen(bench, run, 'run.this_tool')).toEqual([
    [1, 1, 0, 0, 0, 1],
    [2, 2, 0, 0, 0, 14],
    [3, 2, 1, 0, 0, 61],
    [1, 1, 0, 0, 0, 5],
    [4, 2, 1, 1, 0, 71],
    [5, 3, 1, 1, 0, 151],
    [6, 4, 1, 1, 0, 152],
  ])
  expect((await seen(bench, run, 'run.same_args')).at(-1)).toEqual([2, 2, 0, 0, 0, 2])
  expect(await seen(bench, run, 'session.all_tools')).toEqual([
    [1, 1, 0, 0, 0, 1],
    [2, 2, 0, 0, 0, 14],
    [3, 2, 1, 0, 0, 61],
    [5, 3, 1, 1, 0, 1006],
    [6, 3, 1, 1, 1, 1071],
    [7, 4, 1, 1, 1, 1151],
    [8, 5, 1, 1, 1, 1152],
  ])
})

test('applies the gate when a sum is unknown because a call lacks the argument', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [pay],
        policies: [
          {
            on: ['pay'],
            entry: policy('sum', {
              effect: 'deny',
              when: { field: 'history.run.this_tool.total(args.n)', op: 'gt', value: 100, if_missing: false },
            }),
          },
        ],
      }),
    ],
    models: {
      root: inOrder({ calls: [call('pay', 1)] }, { calls: [call('pay')] }, { calls: [call('pay', 2)] }, 'Done.'),
    },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.arguments)).toEqual([{ n: 1 }, { n: 2 }])
})

test("counts the agent's runs in a window across a restart, but neither older calls nor those of other agents", async () => {
  const clerk = snapshotOf({ name: 'clerk', tools: [pay] })
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [pay],
        agents: [boundAgent(clerk)],
        policies: [{ on: ['pay'], entry: asking('window.this_tool', 'session.this_tool') }],
      }),
      clerk,
    ],
    models: {
      root: inOrder({ calls: [{ name: 'clerk', args: { message: 'Pay.' } }] }, { calls: [call('pay', 2)] }, 'Done.'),
      clerk: inOrder({ calls: [call('pay', 40)] }, 'Paid.'),
    },
    tools: { pay: () => returns('paid') },
  })
  const start = async (): Promise<RunId> => {
    const run = await bench.start('root')
    await bench.waitForEnd(run)
    return run
  }
  const first = await start()
  expect(await seen(bench, first, 'window.this_tool')).toEqual([[1, 1, 0, 0, 0, 2]])
  expect(await seen(bench, first, 'session.this_tool')).toEqual([[2, 2, 0, 0, 0, 42]])
  await bench.restart()
  expect(await seen(bench, await start(), 'window.this_tool')).toEqual([[2, 2, 0, 0, 0, 4]])
  await bench.advance(9 * 60_000)
  expect(await seen(bench, await start(), 'window.this_tool')).toEqual([[3, 3, 0, 0, 0, 6]])
  await bench.advance(2 * 60_000)
  expect(await seen(bench, await start(), 'window.this_tool')).toEqual([[2, 2, 0, 0, 0, 4]])
})

test('counts a call that waited at the time it was executed, not when it was requested', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [pay],
        policies: [
          { on: ['pay'], entry: asking('window.this_tool') },
          { on: ['pay'], entry: big },
        ],
      }),
    ],
    models: {
      root: inOrder({ calls: [call('pay', 2)] }, { calls: [call('pay', 60)] }, { calls: [call('pay', 3)] }, 'Done.'),
    },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.advance(11 * 60_000)
  await bench.engine.answer(run, reply(task))
  await bench.waitForEnd(run)
  expect((await seen(bench, run, 'window.this_tool')).at(-1)).toEqual([2, 2, 0, 0, 0, 63])
})

/** Denied beyond so many; `when` is what a call of the same completion must not reach by its siblings. */
const capped = (field: string, value: number): PolicyEntry =>
  policy('capped', {
    effect: 'deny',
    when: { field, op: 'gt', value, ...(field.includes('window') && { window: '10m' }) },
  })

async function batch(field: string, cap: number, calls: readonly number[], gated = false) {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [pay],
        policies: [
          { on: ['pay'], entry: capped(field, cap) },
          ...(gated ? [{ on: ['pay'], entry: policy('each', {}) }] : []),
        ],
      }),
    ],
    models: { root: inOrder({ calls: calls.map((n) => call('pay', n)) }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const paid = () => bench.invoked.map(({ arguments: given }) => (given as { n: number }).n)
  return { bench, run, paid }
}

test.each([
  ['history.run.this_tool.attempts', 2, [1, 2, 3, 4], [1, 2]],
  ['history.session.all_tools.executed', 3, [1, 2, 3, 4], [1, 2, 3]],
  ['history.window.this_tool.attempts', 2, [1, 2, 3], [1, 2]],
  ['history.run.this_tool.total(args.n)', 100, [60, 40, 1], [60, 40]],
  ['history.run.this_tool.total(args.n)', 100, [60, 50, 40], [60, 40]],
])('decides calls of one completion in order: %s up to %i allows of %j these: %j', async (field, cap, calls, go) => {
  const { bench, run, paid } = await batch(field, cap, calls)
  await bench.waitForEnd(run)
  expect(paid()).toEqual(go)
})

test('does not deny an approved call because of siblings that wait or were denied', async () => {
  const { bench, run, paid } = await batch('history.run.this_tool.attempts', 2, [1, 2, 3], true)
  const [first, second] = [await bench.waitForTask(run, 1), await bench.waitForTask(run, 2)]
  await bench.engine.answer(run, reply(first))
  await bench.engine.answer(run, reply(second))
  await bench.waitForEnd(run)
  expect(paid()).toEqual([1, 2])
})

test('counts an edited call with its current arguments, beside siblings that wait or were sent first', async () => {
  const { bench, run, paid } = await batch('history.run.this_tool.total(args.n)', 100, [60, 40], true)
  const [first, second] = [await bench.waitForTask(run, 1), await bench.waitForTask(run, 2)]
  const edited = await bench.engine.answer(run, reply(second, { metadata: { 'svc/arguments': { n: 41 } } }))
  expect(edited.code).toBe('invalid_value')
  await bench.engine.answer(run, reply(second))
  await bench.engine.answer(run, reply(first))
  await bench.waitForEnd(run)
  expect(paid()).toEqual([40, 60])
})
