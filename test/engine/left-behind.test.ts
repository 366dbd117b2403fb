/** A run ends while an unsafe call is under way: nobody knows what became of it, and an operator is asked. */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  boundAgent,
  inOrder,
  key,
  openBench,
  operator,
  reply,
  returns,
  snapshotOf,
  tool,
  turns,
  type Bench,
} from './bench.ts'

const lostWith = (error: string): ToolOutcome => ({ at: 'unknown', code: 'broken', error })

/** A call of `pay` that is under way, and the function that ends it. */
async function paying(sideEffectClass?: SideEffectClass) {
  let finish: (outcome: ToolOutcome) => void = () => {}
  let cut: AbortSignal | undefined
  const about = { ...(sideEffectClass && { sideEffectClass }), outputSchema: { type: 'object' } }
  const { sideEffectClass: _, ...undeclared } = tool('pay')
  const pay = { ...undeclared, ...about }
  const find = tool('find')
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [{ ...pay, labels: { 'svc/probe': 'acme.find' } }, find] })],
    models: { root: inOrder({ calls: [{ name: 'pay', args: { amount: 5 } }] }, 'End.') },
    tools: {
      pay: (_, signal) => new Promise((resolve) => ([finish, cut] = [resolve, signal])),
      find: () => returns({ found: true }),
    },
  })
  const run = await bench.start('root')
  await turns()
  return { bench, run, finish: (outcome: ToolOutcome) => finish(outcome), isCut: () => cut?.aborted }
}

const reviews = async (bench: Bench, run: RunId) => {
  const { sessionId } = (await bench.store.run(run))!
  return (await bench.store.tasksOfSession(sessionId)).filter(({ kind }) => kind === 'anomaly_review')
}
const stateOf = async (bench: Bench, run: RunId): Promise<string | undefined> => {
  const { sessionId } = (await bench.store.run(run))!
  return (await bench.store.calls({ sessionId })).find(({ ref }) => ref === 'acme.pay')?.state
}

const CLASSES = [
  [undefined, 1],
  ['non_idempotent_write', 1],
  ['idempotent_write', 0],
  ['read_only', 0],
] as const

test.each(CLASSES)('cancelling a run with a call of class %s in flight opens %d reviews', async (given, count) => {
  const { bench, run } = await paying(given)
  expect(await bench.engine.cancel(run, operator())).toEqual({ runId: run, status: 'Cancelled' })
  await bench.waitForEnd(run)
  expect(await reviews(bench, run)).toMatchObject(
    Array.from({ length: count }, () => ({
      status: 'pending',
      options: [{ id: 'happened' }, { id: 'skip' }],
      arguments: { amount: 5 },
    })),
  )
  const { sessionId } = (await bench.store.run(run))!
  expect((await bench.store.events(sessionId, 0, 100)).at(-1)!.subject).toBe('engine.session.cancelled')
  expect(await stateOf(bench, run)).toBe('unknown')
})

test.each(CLASSES)('a cancel cuts a call of class %s off only where it may be repeated', async (given, count) => {
  const { bench, run, isCut } = await paying(given)
  await bench.engine.cancel(run, operator())
  await turns()
  expect(isCut()).toBe(count === 0)
})

test.each([
  ['happened', { selectedOptionId: 'happened', metadata: { 'svc/result': { paid: 5 } } }, 'executed'],
  ['skip', { selectedOptionId: 'skip' }, 'skipped'],
])('records the answer %s on the call, and keeps the run cancelled', async (_, answer, state) => {
  const { bench, run } = await paying('non_idempotent_write')
  await bench.engine.cancel(run, operator())
  const [task] = await reviews(bench, run)
  const asked = { user_task_id: task!.id }
  for (const selectedOptionId of ['retry', 'stop'])
    expect(await bench.engine.answer(run, reply(asked, { by: operator(), selectedOptionId }))).toMatchObject({
      code: 'invalid_value',
    })
  expect(await bench.engine.answer(run, reply(asked, { by: key(), ...answer }))).toMatchObject({
    code: 'operator_only',
  })
  const wrong = { selectedOptionId: 'happened', metadata: { 'svc/result': 'no object' } }
  expect(await bench.engine.answer(run, reply(asked, { by: operator(), ...wrong }))).toMatchObject({
    code: 'invalid_value',
  })
  await bench.advance(63_000)
  expect(await bench.engine.answer(run, reply(asked, { by: operator(), ...answer }))).toEqual({
    status: 'Cancelled',
    userTaskId: task!.id,
    pending: [],
  })
  expect(await stateOf(bench, run)).toBe(state)
  expect(await reviews(bench, run)).toMatchObject([{ status: 'completed' }])
  expect((await bench.timeline(run)).at(-1)).toMatchObject({ type: 'UserTaskRes' })
  expect(await bench.store.run(run)).toMatchObject({ status: 'Cancelled', errorCode: 'cancelled' })
})

test('nobody says of a call that goes on after a cancel that it did not happen', async () => {
  const { bench, run, finish } = await paying('non_idempotent_write')
  await bench.engine.cancel(run, operator())
  const [task] = await reviews(bench, run)
  const skip = reply({ user_task_id: task!.id }, { by: operator(), selectedOptionId: 'skip' })
  await bench.advance(62_999)
  expect(await bench.engine.answer(run, skip)).toMatchObject({
    code: 'invalid_value',
    error: 'The call may still arrive until 2026-01-01T00:01:03.000Z; say after that whether it happened.',
  })
  finish(returns({ paid: 5 }))
  await turns()
  expect([await stateOf(bench, run), (await reviews(bench, run)).map(({ status }) => status)]).toEqual([
    'executed',
    ['cancelled'],
  ])
})

test.each([
  ['an outcome that arrives late', returns({ paid: 5 }), 'executed', 'cancelled'],
  ['a call that never left', { at: 'not_sent', code: 'refused', error: 'refused' } as const, 'not_sent', 'cancelled'],
  ['a call that broke off', lostWith('reset'), 'unknown', 'pending'],
])('records %s', async (_, outcome, state, status) => {
  const { bench, run, finish } = await paying('non_idempotent_write')
  await bench.engine.cancel(run, operator())
  finish(outcome)
  await turns()
  expect([await stateOf(bench, run), (await reviews(bench, run)).map((task) => task.status)]).toEqual([state, [status]])
})

test('replaces a review that was open before the cancel by one with the options that remain', async () => {
  const { bench, run, finish } = await paying('non_idempotent_write')
  finish(lostWith('reset'))
  await bench.waitForTask(run)
  await bench.engine.cancel(run, operator())
  expect(await reviews(bench, run)).toMatchObject([
    { status: 'cancelled', options: [{}, { id: 'retry' }, {}, {}] },
    { status: 'pending', options: [{ id: 'happened' }, { id: 'skip' }] },
  ])
})

test('still runs the probe, and uses its result', async () => {
  const { bench, run } = await paying('non_idempotent_write')
  await bench.engine.cancel(run, operator())
  await bench.restart()
  const [task] = await reviews(bench, run)
  expect(await bench.engine.probe(task!.id, operator(), new AbortController().signal)).toMatchObject({
    name: 'find',
    result: { found: true },
  })
  const asked = { user_task_id: task!.id }
  await bench.engine.answer(run, reply(asked, { by: operator(), selectedOptionId: 'happened' }))
  expect(await stateOf(bench, run)).toBe('executed')
})

test('opens a review for a call in flight of a child whose parent ends', async () => {
  const child = snapshotOf({ name: 'child', tools: [tool('pay', { sideEffectClass: 'non_idempotent_write' })] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, 'End.'),
      child: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.'),
    },
    tools: { pay: () => new Promise(() => {}) },
  })
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  const { sessionId } = (await bench.store.run(run))!
  const below = (await bench.store.runsOfSession(sessionId)).find(({ depth }) => depth === 1)
  expect(await reviews(bench, run)).toMatchObject([{ runId: below!.id, status: 'pending' }])
})

test('opens a review for a run that a limit halts', async () => {
  const pay = tool('pay', { sideEffectClass: 'non_idempotent_write' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], limits: { max_wall_clock_seconds: 10 } })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'End.') },
    tools: { pay: () => new Promise(() => {}) },
  })
  const run = await bench.start('root')
  await turns()
  await bench.advance(10_000)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'limit_exceeded' })
  expect(await reviews(bench, run)).toMatchObject([{ status: 'pending' }])
})
