/** What a process that ended takes with it, and who ended a run. */
import { expect, test } from 'vitest'
import { inOrder, openBench, operator, policy, reply, returns, snapshotOf, tool, turns } from './bench.ts'

test('requests a completion lost with its process again, and counts an estimate of the tokens sent', async () => {
  const asked: unknown[] = []
  const model = { provider: 'scripted', name: 'm', parameters: { max_output_tokens: 100 } }
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root' }), model }],
    models: {
      root: ({ run }, signal) => {
        asked.push([run.turn, run.attempt])
        if (asked.length > 1) return { text: 'Hello.', tokens: 10 }
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))))
      },
    },
  })
  const run = await bench.start('root')
  await turns()
  await bench.restart()
  await bench.waitForEnd(run)
  expect(asked).toEqual([
    [1, 1],
    [1, 1],
  ])
  const stored = await bench.store.run(run)
  expect(stored).toMatchObject({ status: 'Completed', output: 'Hello.' })
  // "You are a test." and "Begin.": 21 characters, four a token.
  expect(stored!.usage).toMatchObject({ inputTokens: 6 + 10, outputTokens: 10 })
  const steps = await bench.store.stepsOfRun(run)
  expect(steps.filter((step) => step.type === 'Reasoning').map((step) => [step.error, step.tokensUsed])).toEqual([
    ['The server ended before the model had answered; the tokens that were sent are booked by an estimate.', 6],
    [null, 20],
  ])
})

test('counts the tokens of a lost completion against the limit', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', limits: { max_tokens_per_run: 6 } })],
    models: { root: () => new Promise(() => {}) },
  })
  const run = await bench.start('root')
  await turns()
  await bench.restart()
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    errorCode: 'limit_exceeded',
    error: 'The limit max_tokens_per_run of 6 is reached: 6 used.',
  })
})

test('counts no tokens for a completion that a stopping process leaves to the next', async () => {
  let finish = (): void => {}
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, 'End.') },
    tools: { look: () => new Promise((resolve) => (finish = () => resolve(returns('seen')))) },
  })
  const run = await bench.start('root')
  await turns()
  const closing = bench.engine.close(10_000)
  finish()
  await closing
  expect((await bench.store.run(run))!.state).toEqual({ at: 'thinking', turn: 2, attempt: 1, unsent: true })
  await bench.restart()
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.usage).toMatchObject({ inputTokens: 20, outputTokens: 20 })
})

test('records who cancelled a run', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: { root: () => new Promise(() => {}) },
  })
  const run = await bench.start('root')
  await bench.engine.cancel(run, operator('olga'), 'Wrong order.')
  const last = await bench.waitForEnd(run)
  expect(last.data).toMatchObject({ status: 'Cancelled', error: 'Wrong order.', cancelledBy: 'operator:olga' })
  const items = await bench.timeline(run)
  expect(items.at(-1)!.content).toMatchObject({
    status: 'Cancelled',
    error: 'Wrong order.',
    cancelled_by: 'operator:olga',
  })
})

test('closes the limit task about a wait when the wait ends', async () => {
  const gate = policy('gate', {})
  const limits = { max_hitl_wait_minutes: 5, max_loop_iterations: 1, on_limit: 'escalate' as const }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')], policies: [{ on: ['look'], entry: gate }], limits })],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, { calls: [{ name: 'look', args: { n: 2 } }] }, 'End.') },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  const approval = await bench.waitForTask(run)
  await bench.advance(5 * 60_000)
  await bench.waitForTask(run, 2)
  await bench.engine.answer(run, reply(approval, { approved: true }))
  const held = await bench.waitForTask(run, 3)
  const { sessionId } = (await bench.store.run(run))!
  expect((await bench.store.tasksOfSession(sessionId)).map((task) => [task.context?.['limit'], task.status])).toEqual([
    [undefined, 'completed'],
    ['max_hitl_wait_minutes', 'cancelled'],
    ['max_loop_iterations', 'pending'],
  ])
  await bench.engine.answer(run, reply(held, { by: operator(), approved: false }))
  await bench.waitForEnd(run)
})
