/** Children that share a token budget: what one has in flight is not there for another. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProviderError } from '../../src/providers/provider.ts'
import {
  boundAgent,
  inOrder,
  openBench,
  operator,
  reply,
  snapshotOf,
  turns,
  type Bench,
  type ModelReply,
} from './bench.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
/** "You are a test." and "go": 17 characters, four a token. */
const MOST = 5 + 100

interface Family {
  readonly bench: Bench
  /** Children whose model was asked, in order. */
  readonly asked: string[]
  /** Lets the oldest completion in flight have its outcome. */
  readonly answer: (said: ModelReply) => Promise<void>
}

/** A root whose children, `count` of them, say one thing each, and may use 105 tokens each. */
async function family(count: number, budget?: number, on_limit: 'halt' | 'escalate' = 'halt'): Promise<Family> {
  const model = { provider: 'scripted', name: 'm', parameters: { max_output_tokens: 100 } }
  const names = NAMES.slice(0, count)
  const children = names.map((name) => ({ ...snapshotOf({ name }), model }))
  const limits = budget === undefined ? {} : { max_tokens_per_run: budget, on_limit }
  const asked: string[] = []
  const waiting: ((said: ModelReply) => void)[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: children.map((each) => boundAgent(each)), limits }), ...children],
    models: {
      root: inOrder({ calls: names.map((name) => ({ name, args: { message: 'go' } })), tokens: 5 }, 'All said.'),
      ...Object.fromEntries(
        names.map((name) => [
          name,
          () =>
            new Promise<ModelReply>((resolve) => {
              asked.push(name)
              waiting.push(resolve)
            }),
        ]),
      ),
    },
  })
  return {
    bench,
    asked,
    async answer(said) {
      waiting.shift()!(said)
      await turns()
    },
  }
}

test("holds a child back while completions in flight have reserved the rest of its parent's budget", async () => {
  const { bench, asked, answer } = await family(3, 10 + MOST + 1)
  const run = await bench.start('root')
  await turns()
  // One token is left beside the first: the second may go beyond the budget, as a run alone may.
  expect(asked).toEqual(['a', 'b'])
  await answer({ text: 'A.', tokens: 10 })
  expect(asked).toEqual(['a', 'b'])
  await answer({ text: 'B.', tokens: 10 })
  expect(asked).toEqual(['a', 'b', 'c'])
  await answer({ text: 'C.', tokens: 10 })
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'All said.' })
})

test('requests completions of children without a shared budget at once', async () => {
  const { bench, asked } = await family(6)
  await bench.start('root')
  await turns()
  expect(asked).toEqual(NAMES)
})

test('never requests the completion of a waiting child when others have used up the budget', async () => {
  const { bench, asked, answer } = await family(3, 60)
  const run = await bench.start('root')
  await turns()
  await answer({ text: 'Long.', tokens: 50 })
  await bench.waitForEnd(run)
  expect(asked).toEqual(['a'])
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'The limit max_tokens_per_run of 60 is reached: 110 used.',
  })
})

test('continues a waiting child when an operator grants more', async () => {
  const { bench, asked, answer } = await family(2, 60, 'escalate')
  const run = await bench.start('root')
  await turns()
  await answer({ text: 'Long.', tokens: 25 })
  const task = await bench.waitForTask(run)
  expect(task['context']).toEqual({ limit: 'max_tokens_per_run', value: 60, used: 60 })
  expect(asked).toEqual(['a'])
  await bench.engine.answer(run, reply(task, { by: operator(), approved: true }))
  await turns()
  expect(asked).toEqual(['a', 'b'])
  await answer('B.')
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.status).toBe('Completed')
})

test.each([
  ['fails', new ProviderError('No such model.', { retryable: false })],
  ['is to be tried again later', new ProviderError('Busy.', { retryable: true })],
])('frees the reservation of a completion that %s', async (_, error) => {
  const { bench, asked, answer } = await family(2, 60)
  await bench.start('root')
  await turns()
  await answer(error)
  expect(asked).toEqual(['a', 'b'])
})

test('requests no more completions of a child that is cancelled with its parent', async () => {
  const { bench, asked } = await family(2, 60)
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  await bench.waitForEnd(run)
  expect(asked).toEqual(['a'])
})

test('after a restart counts completions that were in flight but not those that waited, and ends a parent without budget', async () => {
  const { bench, asked } = await family(2, 10 + 5)
  const run = await bench.start('root')
  await turns()
  await bench.restart()
  await bench.waitForEnd(run)
  expect(asked).toEqual(['a'])
  const { sessionId, error } = (await bench.store.run(run))!
  expect(error).toBe('The limit max_tokens_per_run of 15 is reached: 15 used.')
  const [, a, b] = await bench.store.runsOfSession(sessionId)
  expect([a!, b!].map(({ usage }) => [usage.inputTokens, usage.outputTokens])).toEqual([
    [5, 0],
    [0, 0],
  ])
})

test('never exceeds the shared budget of children by more than one completion', async () => {
  const plan = fc.record({
    budget: fc.integer({ min: 20, max: 800 }),
    uses: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: NAMES.length }),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ budget, uses }) => {
      const { bench, answer, asked } = await family(uses.length, budget)
      const run = await bench.start('root')
      for (let at = 0; await turns(), at < asked.length; at++) await answer({ text: 'ModelReply.', tokens: uses[at]! })
      const stored = (await bench.store.run(run))!
      expect(stored.finishedAt).not.toBeNull()
      // What was asked for is spent, also where its parent ended before the answer came.
      const spent = asked.reduce((sum, _, at) => sum + 2 * uses[at]!, 10)
      expect(spent).toBeLessThan(budget + MOST)
    }),
    { numRuns: 20 },
  )
})
