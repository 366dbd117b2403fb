/** `svc/model-fallback`: other models are asked before the first token, and never after it. */
import { expect, test } from 'vitest'
import { ProviderError } from '../../src/providers/provider.ts'
import { openBench, returns, snapshotOf, tool, turns, type Model } from './bench.ts'

const pay = tool('pay', { sideEffectClass: 'non_idempotent_write' })
const away = new ProviderError('The model provider answered 529: Overloaded', { status: 529, retryable: true })
const refused = new ProviderError('The model provider answered 401: No such key', { status: 401, retryable: false })

async function play(model: Model) {
  const bench = await openBench({
    agents: [
      {
        ...snapshotOf({ name: 'root', tools: [pay] }),
        model: { provider: 'scripted', name: 'first' },
        fallback: [
          { provider: 'scripted', name: 'second' },
          { provider: 'scripted', name: 'third' },
        ],
      },
    ],
    models: { root: model },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await turns()
  const { status, output, error } = (await bench.store.run(run))!
  const reasoning = (await bench.timeline(run)).filter(({ type }) => type === 'Reasoning')
  return { end: { status, output, error }, reasoning }
}

test('the next models are asked in order, and the step names the one that answered and why', async () => {
  const asked: string[] = []
  const { end, reasoning } = await play(({ model }) => {
    asked.push(model.name)
    return { first: away, second: refused, third: 'Hello.' }[model.name]!
  })
  expect(asked).toEqual(['first', 'second', 'third'])
  expect(end).toEqual({ status: 'Completed', output: 'Hello.', error: null })
  expect(reasoning.map(({ content }) => [content['model'], content['fallback_after']])).toEqual([
    [
      'third',
      [
        { model: 'first', error: 'The model provider answered 529: Overloaded' },
        { model: 'second', error: 'The model provider answered 401: No such key' },
      ],
    ],
  ])
})

test('a model that answers is the only one asked, and its step says nothing of the others', async () => {
  const { reasoning } = await play(() => 'Hello.')
  expect(reasoning.map(({ content }) => 'fallback_after' in content)).toEqual([false])
})

test('when all fail for good, the run fails with what each said', async () => {
  const { end } = await play(() => refused)
  expect(end).toEqual({
    status: 'Failed',
    output: null,
    error: ['first', 'second', 'third'].map((name) => `${name}: ${refused.message}`).join(' '),
  })
})

test('a model that has begun to answer is not replaced: a stream that breaks halfway is tried again with the same one', async () => {
  const asked: string[] = []
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root' }), fallback: [{ provider: 'scripted', name: 'second' }] }],
    models: {},
    providers: {
      choose: (_, { name }) => ({
        async *complete() {
          asked.push(name)
          yield { type: 'text', text: 'The refund is' }
          throw new ProviderError('The connection broke.', { retryable: true })
        },
      }),
      maxOutputTokens: () => 100,
      terms: () => ({ price: 'free' }),
    },
  })
  const run = await bench.start('root')
  await bench.advance(60_000)
  expect((await bench.store.run(run))!.status).toBe('Failed')
  expect(new Set(asked)).toEqual(new Set([snapshotOf({ name: 'root' }).model.name]))
  expect(asked.length).toBe(3)
})
