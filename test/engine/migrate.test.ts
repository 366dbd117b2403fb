/** Waiting runs that move to another version. Source: docs/design/steering.md#migrate */
import { expect, test } from 'vitest'
import { versionIdOf, type RunId } from '../../src/base/ids.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import {
  boundAgent,
  openBench,
  operator,
  policy,
  publish,
  replyTo,
  returns,
  snapshotOf,
  tool,
  turns,
  WORKSPACE,
  type Bench,
} from './bench.ts'

const PAY = tool('pay', { sideEffectClass: 'non_idempotent_write' })
const withPolicy = (version: string, entry?: PolicyEntry): AgentSnapshot => {
  const made = snapshotOf({ name: 'root', tools: [PAY], policies: entry ? [{ on: ['pay'], entry }] : [] })
  return { ...made, version, digest: `${made.digest.slice(0, -5)}${version}` as never }
}
const ASKS = withPolicy('1.0.0', policy('one', {}))

const versionOf = async (bench: Bench, { id, digest }: AgentSnapshot) =>
  (await bench.store.version(versionIdOf('test', id, digest)))!
const migrate = async (bench: Bench, run: RunId, next: AgentSnapshot) =>
  bench.engine.migrate(run, { by: operator(), version: await versionOf(bench, next), reason: 'its policy was wrong' })

async function startedOn(snapshot: AgentSnapshot, next: AgentSnapshot, pay = () => Promise.resolve(returns('paid'))) {
  const bench = await openBench({
    agents: [snapshot],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay', args: { amount: 5 } }] } : 'Done.') },
    tools: { pay },
  })
  const run = await bench.start('root')
  await turns()
  await publish(bench.store, [next])
  return { bench, run }
}

test('a call that waits for a person is decided again: the new version denies it', async () => {
  const next = withPolicy('1.0.1', policy('never', { effect: 'deny' }))
  const { bench, run } = await startedOn(ASKS, next)
  await migrate(bench, run, next)
  await turns()
  const stored = (await bench.store.run(run))!
  expect(stored).toMatchObject({ status: 'Completed', versionLabel: '1.0.1' })
  expect(bench.invoked).toEqual([])
  const [task] = await bench.store.tasksOfSession(stored.sessionId)
  expect(task).toMatchObject({ status: 'cancelled' })
  const step = (await bench.timeline(run)).find(({ type }) => type === 'RunResumed')
  expect(step?.content).toMatchObject({
    version: '1.0.1',
    from_version: '1.0.0',
    resumed_by: 'operator:olga',
    reason: 'its policy was wrong',
  })
})

test('who was asked is asked anew, and the old task takes no answer', async () => {
  const next = withPolicy('1.0.1', policy('two', {}))
  const { bench, run } = await startedOn(ASKS, next)
  const before = await bench.waitForTask(run)
  await migrate(bench, run, next)
  const after = await bench.waitForTask(run, 2)
  expect(after['user_task_id']).not.toBe(before['user_task_id'])
  expect(await bench.engine.answer(run, replyTo(before, { approved: true }))).toMatchObject({
    code: 'task_already_completed',
  })
  expect(bench.invoked).toEqual([])
  await bench.engine.answer(run, replyTo(after, { approved: true }))
  await turns()
  expect(bench.invoked).toHaveLength(1)
})

test('a run whose call is under way is not moved', async () => {
  const free = withPolicy('1.0.0')
  const next = withPolicy('1.0.1')
  const { bench, run } = await startedOn(free, next, () => new Promise(() => {}))
  await expect(migrate(bench, run, next)).rejects.toThrow(
    `Run ${run} cannot be moved to another version now: its call of acme.pay is under way.`,
  )
  expect((await bench.store.run(run))!.versionLabel).toBe('1.0.0')
})

test('a run that has ended is not moved', async () => {
  const next = withPolicy('1.0.1')
  const { bench, run } = await startedOn(withPolicy('1.0.0'), next)
  await expect(migrate(bench, run, next)).rejects.toMatchObject({ code: 'run_not_movable' })
})

test('a run that a pause of its version holds goes on with the other', async () => {
  const free = withPolicy('1.0.0')
  const next = withPolicy('1.0.1')
  const bench = await openBench({
    agents: [free],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay', args: { amount: 5 } }] } : 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const act = { kind: 'tool', name: 'acme.pay', at: 0, by: 'operator:olga', reason: null } as const
  await bench.engine.setPaused(WORKSPACE, { ...act, isPaused: true })
  const run = await bench.start('root')
  await turns()
  await bench.engine.setPaused(WORKSPACE, { ...act, kind: 'version', name: 'acme.root@1.0.0', isPaused: true })
  await bench.engine.setPaused(WORKSPACE, { ...act, isPaused: false })
  await turns()
  expect(bench.invoked).toEqual([])
  await publish(bench.store, [next])
  await migrate(bench, run, next)
  await turns()
  expect(bench.invoked).toHaveLength(1)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', versionLabel: '1.0.1' })
})

test('a run whose sub-agent is at work, and the sub-agent, are not moved', async () => {
  const child = snapshotOf({ name: 'child', tools: [PAY], policies: [{ on: ['pay'], entry: policy('one', {}) }] })
  const root = snapshotOf({ name: 'root', agents: [boundAgent(child)] })
  const next: AgentSnapshot = { ...root, version: '1.0.1', digest: `${root.digest.slice(0, -5)}1.0.1` as never }
  const bench = await openBench({
    agents: [root, child],
    models: {
      root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'child', args: { message: 'go' } }] } : 'Done.'),
      child: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay' }] } : 'Done.'),
    },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await turns()
  await publish(bench.store, [next])
  await expect(migrate(bench, run, next)).rejects.toThrow('its sub-agent acme.child is at work')
  const { sessionId } = (await bench.store.run(run))!
  const below = (await bench.store.runsOfSession(sessionId)).find(({ parentRunId }) => parentRunId !== null)!
  await expect(migrate(bench, below.id, next)).rejects.toMatchObject({ code: 'not_a_root_run' })
})

test('what the new version counts in other sessions is known when the calls are decided again', async () => {
  const free = withPolicy('1.0.0')
  const when = { field: 'history.window.this_tool.executed', op: 'gt', value: 1, window: '10m' } as const
  const next = withPolicy('1.0.1', policy('often', { effect: 'deny', when: when as never }))
  const bench = await openBench({
    agents: [free],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay', args: { amount: 5 } }] } : 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  await bench.start('root')
  await turns()
  expect(bench.invoked).toHaveLength(1)
  const act = { at: 0, by: 'operator:olga', reason: null } as const
  const setPaused = (kind: 'tool' | 'version', name: string, isPaused: boolean) =>
    bench.engine.setPaused(WORKSPACE, { ...act, kind, name, isPaused })
  await setPaused('tool', 'acme.pay', true)
  const run = await bench.start('root')
  await turns()
  await setPaused('version', 'acme.root@1.0.0', true)
  await setPaused('tool', 'acme.pay', false)
  await publish(bench.store, [next])
  await migrate(bench, run, next)
  await turns()
  expect((await bench.store.run(run))!).toMatchObject({ status: 'Completed', versionLabel: '1.0.1' })
  expect(bench.invoked).toHaveLength(1)
})
