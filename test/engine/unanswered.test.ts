/** What a completion used that gave no answer is booked: no budget is escaped by calling it off. */
import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/open.ts'
import { ProviderError } from '../../src/providers/provider.ts'
import { boundAgent, inOrder, openBench, operator, reply, snapshotOf, turns, type ModelReply } from './bench.ts'

/** "You are a test." and "Begin.": 21 characters, four a token. */
const ASKED = 6
const broken = new ProviderError('The connection broke.', { retryable: true })
const CALLED_OFF = 'Called off before the model had answered; its tokens are booked as far as they were seen.'

test.each<[string, ModelReply, number]>([
  ['has said nothing yet', { after: 'silence' }, 0],
  ['has said 10 characters', { text: 'Ten so far', after: 'silence' }, 3],
])('counts the input and the received text of a run that is cancelled while its model %s', async (_, said, output) => {
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: () => said } })
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  await bench.waitForEnd(run)
  const { status, usage, sessionId } = (await bench.store.run(run))!
  expect([status, usage.inputTokens, usage.outputTokens]).toEqual(['Cancelled', ASKED, output])
  expect((await bench.store.session(sessionId))!.totalTokensUsed).toBe(ASKED + output)
  expect((await bench.timeline(run)).find(({ type }) => type === 'Reasoning')).toMatchObject({
    error: CALLED_OFF,
    content: {
      text: '',
      finish_reason: 'error',
      usage: { input_tokens: ASKED, output_tokens: output, estimated: true },
      tool_calls: [],
    },
  })
})

test('counts the input of a run that is cancelled through another process than the one that asks its model', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: { root: () => ({ text: 'Ten so far', after: 'silence' }) },
  })
  const run = await bench.start('root')
  await turns()
  const leaseTimes = { ttlMs: 15_000, marginMs: 3000, claimEveryMs: 60_000 }
  const other = createEngine({ ...bench.parts, worker: 'other', leaseTimes, timers: bench.timers })
  await other.cancel(run, operator())
  const { status, usage } = (await bench.store.run(run))!
  expect([status, usage.inputTokens, usage.outputTokens]).toEqual(['Cancelled', ASKED, 0])
  expect((await bench.timeline(run)).find(({ type }) => type === 'Reasoning')!.content['usage']).toEqual({
    input_tokens: ASKED,
    output_tokens: 0,
    estimated: true,
  })
})

test('counts the completions of a run that is cancelled between them', async () => {
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: () => broken } })
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 })
})

test('counts the received part of an answer that breaks off, and the budget ends the run', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', limits: { max_tokens_per_run: 20 } })],
    models: { root: () => ({ text: 'x'.repeat(40), after: broken }) },
  })
  const run = await bench.start('root')
  await bench.advance(60_000)
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'The limit max_tokens_per_run of 20 is reached: 32 used.',
  })
})

test('counts a completion aborted by the wall clock once, and requests it again when an operator grants more', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', limits: { max_wall_clock_seconds: 60, on_limit: 'escalate' } })],
    models: { root: inOrder({ text: 'Ten so far', after: 'silence' }) },
  })
  const run = await bench.start('root')
  await bench.advance(60_000)
  const task = await bench.waitForTask(run)
  expect((await bench.store.run(run))!.usage).toMatchObject({ inputTokens: ASKED, outputTokens: 3 })
  await bench.engine.answer(run, reply(task, { by: operator(), approved: true }))
  await turns()
  await bench.engine.cancel(run, operator())
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.usage).toMatchObject({ inputTokens: 2 * ASKED, outputTokens: 6 })
})

test('counts the completions of children that end with their parent', async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'Begin.' } }], tokens: 5 }),
      child: () => ({ text: 'Ten so far', after: 'silence' }),
    },
  })
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  await bench.waitForEnd(run)
  const { sessionId } = (await bench.store.run(run))!
  // A child is offered `ask_parent` too.
  expect((await bench.store.session(sessionId))!.totalTokensUsed).toBe(10 + 60 + 3)
})

test("counts an answer that exceeds a parent's budget once", async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)], limits: { max_tokens_per_run: 30 } }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }], tokens: 5 }),
      child: () => ({ text: 'Long.', tokens: 40 }),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.error).toBe('The limit max_tokens_per_run of 30 is reached: 90 used.')
  const { sessionId } = (await bench.store.run(run))!
  expect((await bench.store.session(sessionId))!.totalTokensUsed).toBe(90)
})

test('requests no completion of a child whose parent has used up its budget exactly', async () => {
  const child = snapshotOf({ name: 'child' })
  let asked = 0
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)], limits: { max_tokens_per_run: 10 } }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }], tokens: 5 }),
      child: () => {
        asked++
        return 'Done.'
      },
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(asked).toBe(0)
  expect((await bench.store.run(run))!.error).toBe('The limit max_tokens_per_run of 10 is reached: 10 used.')
})
