/** Pauses hold effects, never runs' lives. Source: docs/design/steering.md#pauses */
import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/open.ts'
import type { RunId } from '../../src/base/ids.ts'
import { holdOfState } from '../../src/spec/run/hold.ts'
import type { PauseTarget } from '../../src/spec/steer/pause.ts'
import {
  openBench,
  policy,
  replyTo,
  returns,
  snapshotOf,
  startOf,
  T0,
  tool,
  turns,
  boundAgent,
  WORKSPACE,
  type Bench,
} from './bench.ts'

const HOUR = 3600_000

const setPaused = (bench: Bench, isPaused: boolean, kind: PauseTarget['kind'], name = '') =>
  bench.engine.setPaused(WORKSPACE, { kind, name, isPaused, at: bench.clock.now(), by: 'operator:olga', reason: 'odd' })
const stateOf = async (bench: Bench, run: RunId) => {
  const stored = (await bench.store.run(run))!
  return { status: stored.status, hold: holdOfState(stored)?.reason }
}
const paused = { status: 'Running', hold: 'paused' }

/** An agent that looks, then pays; `gate` is resolved to let the first call answer. */
async function payingBench(limits = {}) {
  const gate: { open: () => void } = { open: () => {} }
  const opened = new Promise<void>((resolve) => void (gate.open = resolve))
  const tools = [tool('look'), tool('pay', { sideEffectClass: 'non_idempotent_write' })]
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools, limits })],
    models: {
      root: ({ run }) =>
        [{ calls: [{ name: 'look' }] }, { calls: [{ name: 'pay', args: { amount: 5 } }] }, 'Paid.'][run.turn - 1]!,
    },
    tools: {
      look: async () => {
        await opened
        return returns('seen')
      },
      pay: () => returns('done'),
    },
  })
  return { bench, gate }
}

test.each([
  ['all', ''],
  ['agent', 'acme.root'],
  ['version', 'acme.root@1.0.0'],
  ['provider', 'scripted'],
] as const)(
  'a pause of %s %s lets a call under way end, holds the next completion, and lets it go on',
  async (kind, name) => {
    const { bench, gate } = await payingBench()
    const run = await bench.start('root')
    await turns()
    expect(await setPaused(bench, true, kind, name)).toBe(true)
    gate.open()
    await turns()
    expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['look'])
    expect(await stateOf(bench, run)).toEqual(paused)
    expect((await bench.timeline(run)).map(({ type }) => type)).toEqual([
      'UserMessage',
      'Reasoning',
      'PolicyDecision',
      'ToolCall',
      'ToolResult',
    ])
    expect(await setPaused(bench, false, kind, name)).toBe(true)
    await turns()
    expect(await stateOf(bench, run)).toEqual({ status: 'Completed', hold: undefined })
    const { sessionId } = (await bench.store.run(run))!
    const told = (await bench.store.events(sessionId, 0, 100)).filter(({ subject }) =>
      /run\.(paused|resumed)/.test(subject),
    )
    expect(told.map(({ subject, data }) => [subject, data['hold']])).toEqual([
      ['engine.run.paused', { reason: 'paused', since: new Date(T0).toISOString() }],
      ['engine.run.resumed', undefined],
    ])
  },
)

test('a paused tool holds its call, which is decided again when it goes on', async () => {
  const { bench, gate } = await payingBench()
  await setPaused(bench, true, 'tool', 'acme.pay')
  gate.open()
  const run = await bench.start('root')
  await turns()
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['look'])
  expect(await stateOf(bench, run)).toEqual(paused)
  await setPaused(bench, false, 'tool', 'acme.pay')
  await turns()
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['look', 'pay'])
  const decided = (await bench.timeline(run)).filter(({ type }) => type === 'PolicyDecision')
  expect(decided).toHaveLength(3)
})

test('what is paused stays paused over a restart, and goes on after it', async () => {
  const { bench, gate } = await payingBench()
  gate.open()
  await setPaused(bench, true, 'tool', 'acme.pay')
  const run = await bench.start('root')
  await turns()
  await bench.restart()
  await turns()
  expect(await stateOf(bench, run)).toEqual(paused)
  await setPaused(bench, false, 'tool', 'acme.pay')
  await turns()
  expect((await stateOf(bench, run)).status).toBe('Completed')
})

test('an approval during a pause sends nothing; the approved call leaves afterwards, once', async () => {
  const tools = [tool('pay', { sideEffectClass: 'irreversible_action' })]
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools, policies: [{ on: ['pay'], entry: policy('one', {}) }] })],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay', args: { amount: 5 } }] } : 'Paid.') },
    tools: { pay: () => returns('done') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await setPaused(bench, true, 'all')
  await bench.engine.answer(run, replyTo(task, { approved: true }))
  await turns()
  expect(bench.invoked).toEqual([])
  expect(await stateOf(bench, run)).toEqual(paused)
  await setPaused(bench, false, 'all')
  await turns()
  expect(bench.invoked).toHaveLength(1)
  expect((await stateOf(bench, run)).status).toBe('Completed')
})

test('a pause of a parent holds its sub-agents too', async () => {
  const child = snapshotOf({ name: 'child', tools: [tool('look')] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'child', args: { message: 'go' } }] } : 'Done.'),
      child: async ({ run }) => {
        if (run.turn === 1) await setPaused(bench, true, 'agent', 'acme.root')
        return run.turn === 1 ? { calls: [{ name: 'look' }] } : 'Seen.'
      },
    },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  await turns()
  expect(bench.invoked).toEqual([])
  await setPaused(bench, false, 'agent', 'acme.root')
  await turns()
  expect((await stateOf(bench, run)).status).toBe('Completed')
})

test('a pause uses no wall clock time of the run', async () => {
  const { bench, gate } = await payingBench({ max_wall_clock_seconds: 600 })
  gate.open()
  await setPaused(bench, true, 'tool', 'acme.pay')
  const run = await bench.start('root')
  await bench.advance(HOUR)
  expect(await stateOf(bench, run)).toEqual(paused)
  await setPaused(bench, false, 'tool', 'acme.pay')
  await turns()
  expect((await stateOf(bench, run)).status).toBe('Completed')
})

test('nothing of a paused agent is started', async () => {
  const { bench } = await payingBench()
  await setPaused(bench, true, 'agent', 'acme.root')
  await expect(bench.start('root')).rejects.toMatchObject({ code: 'agent_paused', status: 409 })
  await setPaused(bench, false, 'agent', 'acme.root')
  await setPaused(bench, true, 'version', 'acme.root@1.0.0')
  await expect(bench.start('root')).rejects.toThrow(
    'No run of acme.root is started: version acme.root@1.0.0 is paused.',
  )
  // Control: another version's pause holds nothing.
  await setPaused(bench, false, 'version', 'acme.root@1.0.0')
  await setPaused(bench, true, 'version', 'acme.root@1.0.1')
  await bench.start('root')
})

test('a pause of what is paused changes nothing, and who, when and why is kept', async () => {
  const { bench } = await payingBench()
  expect(await setPaused(bench, true, 'all')).toBe(true)
  expect(await setPaused(bench, true, 'all')).toBe(false)
  expect(await setPaused(bench, false, 'all')).toBe(true)
  expect(await setPaused(bench, false, 'all')).toBe(false)
  expect(await bench.store.pauseActs(WORKSPACE, 10)).toEqual([
    { kind: 'all', name: '', isPaused: false, at: T0, by: 'operator:olga', reason: 'odd' },
    { kind: 'all', name: '', isPaused: true, at: T0, by: 'operator:olga', reason: 'odd' },
  ])
  expect(await bench.store.pauses(WORKSPACE)).toEqual([])
})

test('a pause that was stored while it could not be read back holds once the operator asks again', async () => {
  const { bench, gate } = await payingBench()
  let isAway = false
  const pauses: typeof bench.store.pauses = (id) =>
    isAway ? Promise.reject(new Error('The store is away.')) : bench.store.pauses(id)
  const engine = createEngine({ ...bench.parts, store: { ...bench.store, pauses }, timers: bench.timers })
  const run = (await engine.start(startOf('root'))).runId as RunId
  await turns()
  isAway = true
  const act = { kind: 'all', name: '', isPaused: true, at: T0, by: 'operator:olga', reason: null } as const
  await expect(engine.setPaused(WORKSPACE, act)).rejects.toThrow('The store is away.')
  isAway = false
  expect(await engine.setPaused(WORKSPACE, act)).toBe(false)
  gate.open()
  await turns()
  expect(await stateOf(bench, run)).toEqual(paused)
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['look'])
})

test('cancelling a held run ends it, and it stays ended when the pause does', async () => {
  const { bench, gate } = await payingBench()
  gate.open()
  await setPaused(bench, true, 'tool', 'acme.pay')
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, {
    type: 'operator',
    id: 'olga',
    proof: 'credential',
    workspaceId: WORKSPACE,
    roles: [],
  })
  await setPaused(bench, false, 'tool', 'acme.pay')
  await turns()
  expect((await stateOf(bench, run)).status).toBe('Cancelled')
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['look'])
})

/** A process that shares its store with others: it learns of their pauses by asking. */
async function sharedProcess() {
  const { bench, gate } = await payingBench()
  const alarms: { at: number; callback: () => void }[] = []
  const timers = {
    set: (callback: () => void, ms: number) => alarms.push({ at: bench.clock.now() + ms, callback }),
    clear: () => {},
  }
  const leaseTimes = { ttlMs: 15_000, marginMs: 3000, claimEveryMs: 60_000 }
  const engine = createEngine({ ...bench.parts, worker: 'other', leaseTimes, timers })
  const advance = async (ms: number): Promise<void> => {
    bench.clock.set(bench.clock.now() + ms)
    for (const { at, callback } of alarms.splice(0)) {
      if (at <= bench.clock.now()) callback()
      else timers.set(callback, ms)
    }
    await turns()
  }
  const pauseElsewhere = (isPaused: boolean) =>
    bench.store.setPaused(WORKSPACE, { kind: 'all', name: '', isPaused, at: T0, by: 'operator:olga', reason: null })
  return { bench, gate, engine, advance, pauseElsewhere }
}

test('what one process pauses leaves no other process a second later, and goes on there, too', async () => {
  const { bench, gate, engine, advance, pauseElsewhere } = await sharedProcess()
  const run = (await engine.start(startOf('root'))).runId as RunId
  await turns()
  await pauseElsewhere(true)
  await advance(999)
  gate.open()
  await turns()
  expect(await stateOf(bench, run)).toEqual(paused)
  expect(bench.invoked).toHaveLength(1)
  await pauseElsewhere(false)
  await advance(999)
  await advance(1)
  expect((await stateOf(bench, run)).status).toBe('Completed')
})

test('while the store cannot say what is paused, nothing leaves', async () => {
  const { bench, gate, advance } = await sharedProcess()
  let isAway = false
  const pauses: typeof bench.store.pauses = (id) =>
    isAway ? Promise.reject(new Error('The store is away.')) : bench.store.pauses(id)
  const engine = createEngine({
    ...bench.parts,
    worker: 'third',
    store: { ...bench.store, pauses },
    leaseTimes: { ttlMs: 15_000, marginMs: 3000, claimEveryMs: 60_000 },
    timers: { set: () => {}, clear: () => {} },
  })
  await engine.start(startOf('root'))
  await turns()
  isAway = true
  await advance(1000)
  gate.open()
  await turns()
  expect(bench.invoked).toHaveLength(1)
})
