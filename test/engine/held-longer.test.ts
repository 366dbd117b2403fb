/** What a hold is told to, and what goes on while it lasts. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail */
import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import type { SessionId } from '../../src/base/ids.ts'
import { ProviderError } from '../../src/providers/provider.ts'
import { holdWithin } from '../../src/spec/run/hold.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  boundAgent,
  inOrder,
  openBench,
  operator,
  reply,
  returns,
  snapshotOf,
  T0,
  tool,
  turns,
  type ModelReply,
} from './bench.ts'

const MINUTE = 60_000
const down = new ProviderError('Nobody listens there.', { retryable: true, outage: 'provider_unreachable' })
const gone: ToolOutcome = { at: 'not_sent', code: 'unreachable', error: 'orders.example cannot be reached.' }

test('a parent shows the hold of its sub-agent, and tells readers when it begins and is over', async () => {
  let answer: ModelReply = down
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, 'All done.'),
      child: () => answer,
    },
  })
  const run = await bench.start('root')
  await bench.advance(3000)
  const { sessionId, status } = (await bench.store.run(run))!
  const runs = await bench.store.runsOfSession(sessionId)
  expect(status).toBe('Running')
  expect(holdWithin(runs[0]!, runs)).toEqual(holdWithin(runs[1]!, runs))
  expect(holdWithin(runs[0]!, runs)).toMatchObject({ reason: 'provider_unreachable' })
  answer = 'Here again.'
  await bench.advance(10 * MINUTE)
  const told = (await bench.store.events(sessionId, 0, 1000)).filter(
    ({ runId, kind, subject }) =>
      kind === 'run' && runId === run && /^engine\.run\.(paused|resumed|completed)$/.test(subject),
  )
  expect(told.map(({ subject, data }) => [subject, (data['hold'] as { reason?: string } | undefined)?.reason])).toEqual(
    [
      ['engine.run.paused', 'provider_unreachable'],
      ['engine.run.resumed', undefined],
      ['engine.run.completed', undefined],
    ],
  )
})

test('an operator is asked about a limit that is reached while a call is held, and the call is made after the grant', async () => {
  const outcome: { now: ToolOutcome } = { now: gone }
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [tool('pay')], limits: { max_wall_clock_seconds: 60, on_limit: 'escalate' } }),
    ],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: { pay: () => outcome.now },
  })
  const run = await bench.start('root')
  await bench.advance(2 * MINUTE)
  expect(await bench.store.run(run)).toMatchObject({ status: 'WaitingForHITL' })
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'escalation', context: { limit: 'max_wall_clock_seconds' } })
  outcome.now = returns('done')
  await bench.advance(60 * MINUTE)
  const before = bench.invoked.length
  await bench.engine.answer(run, reply(task, { by: operator(), approved: true }))
  await bench.advance(2000)
  expect(bench.invoked).toHaveLength(before + 1)
  const ended = (await bench.store.run(run))!
  expect(ended).toMatchObject({ status: 'Completed', output: 'Paid.' })
  expect(ended.usage.iterations).toBe(1)
  expect(await bench.store.nextTimerAt()).toBeUndefined()
})

test('a limit that is reached while a call is under way is looked at again once the call is held', async () => {
  let answers = 0
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [tool('pay')], limits: { max_wall_clock_seconds: 60, on_limit: 'escalate' } }),
    ],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: {
      pay: async () => {
        if (answers++ === 0) await new Promise((resolve) => (release = resolve))
        return gone
      },
    },
    timeoutMs: 10 * MINUTE,
  })
  let release: (value?: unknown) => void = () => {}
  const run = await bench.start('root')
  await bench.advance(2 * MINUTE)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Running' })
  release()
  await bench.advance(3 * MINUTE)
  expect(await bench.store.run(run)).toMatchObject({ status: 'WaitingForHITL' })
})

test('a full disk holds a run: what happened is kept and stored when there is room', async () => {
  let isFull = false
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass: 'non_idempotent_write' })] })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: {
      pay: () => {
        isFull = true
        return returns('receipt 7')
      },
    },
    store: (store) => ({
      ...store,
      save: (...given) => (isFull ? Promise.reject(fail('storage_full')) : store.save(...given)),
    }),
  })
  const run = await bench.start('root')
  await turns()
  const { sessionId, status } = (await bench.store.run(run))!
  expect(status).toBe('Running')
  expect(bench.engine.fullSince(sessionId)).toBe(T0)
  expect(bench.engine.fullSince('other' as SessionId)).toBeUndefined()
  await bench.advance(10 * MINUTE)
  expect(bench.invoked).toHaveLength(1)
  isFull = false
  await bench.advance(MINUTE)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'Paid.' })
  expect(bench.invoked).toHaveLength(1)
  expect(bench.engine.fullSince(sessionId)).toBeUndefined()
})
