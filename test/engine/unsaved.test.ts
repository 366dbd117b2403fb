/** What can never be stored ends its run; what was never sent is not booked. */
import { expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import { fail } from '../../src/base/failure.ts'
import type { Log } from '../../src/base/log.ts'
import type { CompletionPart } from '../../src/providers/provider.ts'
import { boundAgent, inOrder, openBench, returns, snapshotOf, startOf, tool, turns } from './bench.ts'

/** More levels than SQLite takes for JSON. */
function deep(levels: number): JsonValue {
  let value: JsonValue = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

test('ends the run once when the store refuses a result, and opens a review of the call', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('post', { sideEffectClass: 'non_idempotent_write' })] })],
    models: { root: inOrder({ calls: [{ name: 'post' }] }, 'End.') },
    tools: { post: () => returns(deep(2000)) },
  })
  const told: object[] = []
  const log: Log = { write: (level, message, about) => void told.push({ level, message, ...about }) }
  Object.assign(bench.parts.log, log)
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    errorCode: 'state_not_saved',
    error: 'What happened to the run cannot be stored.',
  })
  const { sessionId } = (await bench.store.run(run))!
  expect(await bench.store.tasksOfSession(sessionId)).toMatchObject([{ kind: 'anomaly_review', status: 'pending' }])
  await bench.advance(60_000)
  expect(told).toEqual([
    {
      level: 'error',
      message: 'A change to a session cannot be stored.',
      sessionId,
      runId: run,
      error: expect.stringContaining('json_valid(content)') as string,
    },
  ])
  expect(bench.invoked).toHaveLength(1)
  await bench.restart()
  await turns()
  expect(bench.invoked).toHaveLength(1)
})

test('ends the whole session without content where the failure of a run cannot be stored either', async () => {
  let isRefusing = false
  const child = snapshotOf({ name: 'child', tools: [tool('post', { sideEffectClass: 'non_idempotent_write' })] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, 'End.'),
      child: inOrder({ calls: [{ name: 'post' }] }, 'End.'),
    },
    tools: {
      post: () => {
        isRefusing = true
        return returns('posted')
      },
    },
    store: (store) => ({
      ...store,
      save: (update, holder) => {
        const { steps, closedSteps, calls } = update
        if (isRefusing && steps.length + closedSteps.length + calls.length > 0)
          throw fail('state_not_saved', { why: 'refused' })
        return store.save(update, holder)
      },
    }),
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const { sessionId } = (await bench.store.run(run))!
  const shown = async () => ({
    session: (await bench.store.session(sessionId))!.status,
    runs: (await bench.store.runsOfSession(sessionId)).map(({ status, errorCode }) => [status, errorCode]),
  })
  const ended = {
    session: 'Failed',
    runs: [
      ['Failed', 'state_not_saved'],
      ['Cancelled', 'cancelled'],
    ],
  }
  expect(await shown()).toEqual(ended)
  expect(await bench.store.tasksOfSession(sessionId)).toMatchObject([{ kind: 'anomaly_review', status: 'pending' }])
  isRefusing = false
  await bench.restart()
  await turns()
  expect(bench.invoked).toHaveLength(1)
  expect(await shown()).toEqual(ended)
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['no numbers', {}],
  ['fractions and texts', { inputTokens: 1.5, outputTokens: '3' }],
  ['impossible numbers', { inputTokens: -1, outputTokens: Number.NaN, cachedInputTokens: 1e300 }],
])('reads the usage of a script or a recording as that of a server: %s', async (_, usage) => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: {},
    providers: {
      choose: () => ({
        async *complete(): AsyncGenerator<CompletionPart> {
          const completion = { text: 'Half \ud83d.', finishReason: 'stop', calls: [], usage } as never
          yield { type: 'end', completion }
        },
      }),
      maxOutputTokens: () => 100,
      terms: () => ({ price: 'free' }),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const stored = (await bench.store.run(run))!
  expect(stored).toMatchObject({ status: 'Completed', output: 'Half \ufffd.' })
  const { inputTokens, outputTokens } = stored.usage
  for (const tokens of [inputTokens, outputTokens]) expect(Number.isInteger(tokens) && tokens > 0).toBe(true)
})

test('keeps the other changes of the same batch', async () => {
  let finish = (): void => {}
  const together = new Promise<void>((resolve) => (finish = resolve))
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look'), tool('dig')] })],
    models: { root: inOrder({ calls: [{ name: 'look' }, { name: 'dig' }] }, 'End.') },
    tools: {
      look: () => together.then(() => returns('seen')),
      dig: () => together.then(() => returns(deep(2000))),
    },
  })
  const run = await bench.start('root')
  await turns()
  finish()
  await bench.waitForEnd(run)
  const { sessionId } = (await bench.store.run(run))!
  const rows = await bench.store.calls({ sessionId })
  expect(rows.map(({ ref, state }) => [ref, state])).toEqual([
    ['acme.look', 'executed'],
    ['acme.dig', 'unknown'],
  ])
})

test('counts nothing for a stop between the answer to a start and its first completion', async () => {
  let asked = 0
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: {
      root: () => {
        asked++
        return 'Hello.'
      },
    },
  })
  const started = bench.engine.start(startOf('root'))
  await bench.engine.close()
  const { runId } = await started
  expect([asked, (await bench.store.run(runId as never))!.usage]).toMatchObject([
    0,
    { inputTokens: 0, outputTokens: 0 },
  ])
  await bench.restart()
  await bench.waitForEnd(runId as never)
  const { usage, status } = (await bench.store.run(runId as never))!
  expect([asked, status, usage]).toMatchObject([1, 'Completed', { inputTokens: 10, outputTokens: 10 }])
})

test('sends a recorded call that a stop prevented at the next start, and asks nobody', async () => {
  // The process is told to stop while the record of the call is being written.
  let stop = (): void => {}
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('post', { sideEffectClass: 'non_idempotent_write' })] })],
    models: { root: inOrder({ calls: [{ name: 'post' }] }, 'End.') },
    tools: { post: () => returns('posted') },
    store: (store) => ({
      ...store,
      save(update, ...more) {
        const saved = store.save(update, ...more)
        if (update.calls.some(({ state }) => state === 'sent')) stop()
        return saved
      },
    }),
  })
  let closed: Promise<void> | undefined
  stop = () => void (closed ??= bench.engine.close())
  const run = await bench.start('root')
  await turns()
  await closed
  expect(bench.invoked).toEqual([])
  await bench.restart()
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed' })
})
