/** Without a checkpoint that is asked for, nothing happens. Source: docs/design/audit.md#checkpoints-that-are-required */
import { expect, test } from 'vitest'
import { holdOfState } from '../../src/spec/run/hold.ts'
import { pauseForCheckpoint } from '../../src/spec/steer/checkpoint-demand.ts'
import { inOrder, openBench, returns, snapshotOf, T0, tool, turns, WORKSPACE, type Bench } from './bench.ts'

const MINUTE = 60_000
const DEMAND = { withinMs: 15 * MINUTE, since: T0 }
const reportAt = (at: number) => ({ workspaceId: WORKSPACE, at, by: 'operator:audit', size: 3 })
const report = (bench: Bench) => bench.engine.reportCheckpoint(reportAt(bench.clock.now()))
const EVERYTHING = { kind: 'all', name: '', isPaused: true, by: 'server:checkpoints' } as const

/** An agent that looks, which takes until `answer` is called, and then pays. */
async function payingBench(checkpoints: typeof DEMAND | undefined) {
  let answer = (): void => {}
  const looked = new Promise<void>((resolve) => void (answer = resolve))
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look'), tool('pay')] })],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, { calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: {
      look: async () => {
        await looked
        return returns('seen')
      },
      pay: () => returns('done'),
    },
    ...(checkpoints && { checkpoints }),
  })
  const invoked = () => bench.invoked.map(({ tool: { wire } }) => wire)
  return { bench, answer, invoked }
}

test('nothing starts before the first checkpoint, and again once the last one is too old', async () => {
  const { bench } = await payingBench(DEMAND)
  await expect(bench.start('root')).rejects.toThrow('No run of acme.root is started: everything is paused.')
  expect(await bench.engine.pauses(WORKSPACE)).toEqual([
    { ...EVERYTHING, at: T0, reason: 'no checkpoint of the audit was ever reported' },
  ])
  await report(bench)
  await bench.start('root')
  await bench.advance(15 * MINUTE)
  await bench.start('root')
  await bench.advance(1)
  await expect(bench.start('root')).rejects.toMatchObject({ code: 'agent_paused' })
  expect(await bench.engine.pauses(WORKSPACE)).toEqual([
    {
      ...EVERYTHING,
      at: T0 + 15 * MINUTE,
      reason: 'the last checkpoint of the audit was reported at 2026-01-01T00:00:00.000Z',
    },
  ])
})

test('a run under way keeps its next effect back, also over a restart, and goes on by itself with the next checkpoint', async () => {
  const { bench, answer, invoked } = await payingBench(DEMAND)
  await report(bench)
  const run = await bench.start('root')
  await bench.advance(16 * MINUTE)
  answer()
  await bench.advance(1000)
  const hold = async () => holdOfState((await bench.store.run(run))!)?.reason
  expect([invoked(), await hold()]).toEqual([['look'], 'paused'])
  await bench.restart()
  await bench.engine.recover()
  await bench.advance(1000)
  expect([invoked(), await hold()]).toEqual([['look'], 'paused'])
  await report(bench)
  await turns()
  expect([invoked(), (await bench.store.run(run))?.status]).toEqual([['look', 'pay'], 'Completed'])
})

test('a checkpoint that another process was told of is noticed within a second', async () => {
  const { bench, answer, invoked } = await payingBench(DEMAND)
  await report(bench)
  await bench.start('root')
  await bench.advance(16 * MINUTE)
  answer()
  await bench.advance(1000)
  await bench.store.keepCheckpointReport(reportAt(bench.clock.now()))
  expect(invoked()).toEqual(['look'])
  await bench.advance(1000)
  expect(invoked()).toEqual(['look', 'pay'])
})

test('an operator can pause and resume everything meanwhile, and neither ends the other', async () => {
  const { bench } = await payingBench(DEMAND)
  const setPaused = (isPaused: boolean) =>
    bench.engine.setPaused(WORKSPACE, { kind: 'all', name: '', isPaused, at: T0, by: 'operator:olga', reason: null })
  const byWhom = async () => (await bench.engine.pauses(WORKSPACE)).map(({ by }) => by)
  await setPaused(true)
  expect(await byWhom()).toEqual(['operator:olga', 'server:checkpoints'])
  await report(bench)
  expect(await byWhom()).toEqual(['operator:olga'])
  await bench.advance(16 * MINUTE)
  await setPaused(false)
  expect(await byWhom()).toEqual(['server:checkpoints'])
})

test.each([
  ['forward past the bound', 16 * MINUTE, T0 + 15 * MINUTE],
  ['back past the bound', -16 * MINUTE, T0 - 60 * MINUTE],
  ['forward a little', 14 * MINUTE, undefined],
  ['back a little', -14 * MINUTE, undefined],
])('a clock that jumps %s', (_, jump, pausedAt) => {
  const demand = { ...DEMAND, since: T0 - 60 * MINUTE }
  const at = (now: number, reportedAt = T0) => pauseForCheckpoint(demand, reportAt(reportedAt), now)?.at
  expect(at(T0 + jump)).toBe(pausedAt)
  // The next checkpoint is told by the same clock.
  expect(at(T0 + jump + 1, T0 + jump)).toBeUndefined()
})

test('where none are asked for, nothing is paused, and the store is not asked', async () => {
  const { bench } = await payingBench(undefined)
  await bench.advance(60 * MINUTE)
  await bench.start('root')
  expect(await bench.engine.pauses(WORKSPACE)).toEqual([])
})
