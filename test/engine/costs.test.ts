/** What completions cost: on their steps, in the sums of run, session and day, and against `svc/max-cost-per-run`. */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import { ProviderError, type ModelProviders } from '../../src/providers/provider.ts'
import type { ModelPrice } from '../../src/spec/price.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
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
  WORKSPACE,
  type ModelReply,
} from './bench.ts'

/** One thousandth of a dollar per token; a completion of the bench reads and writes 10, so that sums are easy to read. */
const PRICE: ModelPrice = { currency: 'USD', version: '2026-09-23', input: '1000', output: '1000' }
const priced: ModelProviders['terms'] = () => ({ price: PRICE })
const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })
const look = tool('look', { sideEffectClass: 'read_only' })

/** An agent that looks twice and then answers; each completion costs 0.02. */
async function play(about: Partial<AgentSnapshot>, terms: ModelProviders['terms'] = priced) {
  let left = 2
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [look] }), ...about }],
    models: {
      root: () => (left-- > 0 ? { calls: [{ name: 'look' }] } : 'Seen.'),
    },
    tools: { look: () => returns('there') },
    terms,
  })
  const id = await bench.start('root')
  await turns()
  return { bench, id, run: (await bench.store.run(id))! }
}

const reasoning = async (bench: Awaited<ReturnType<typeof openBench>>, id: RunId) =>
  (await bench.timeline(id)).filter(({ type }) => type === 'Reasoning').map(({ content }) => content)

test('a completion shows its provider and its exact cost, and run, session and day add them up', async () => {
  const { bench, id, run } = await play({})
  const [first] = await reasoning(bench, id)
  expect(first).toMatchObject({
    model: 'root-model',
    provider: 'scripted',
    cost: { amount: '0.02', currency: 'USD', price_version: '2026-09-23', parts: { input: '0.01', output: '0.01' } },
  })
  expect(run.usage.cost).toEqual({ amounts: { USD: '0.06' }, unpriced: 0 })
  expect((await bench.store.session(run.sessionId))!.cost).toEqual(run.usage.cost)
  expect(await bench.store.costs(WORKSPACE, T0, T0, 10)).toEqual([
    {
      day: '2026-01-01',
      agent: 'acme.root',
      version: '1.0.0',
      provider: 'scripted',
      model: 'root-model',
      completions: 3,
      inputTokens: 30,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 30,
      reasoningTokens: 0,
      cost: { amounts: { USD: '0.06' }, unpriced: 0 },
    },
  ])
})

test('an unknown price leaves the cost out of the step and counts the completion: it is never zero', async () => {
  const { bench, id, run } = await play({}, () => ({ price: 'unknown' }))
  expect((await reasoning(bench, id)).map((content) => 'cost' in content)).toEqual([false, false, false])
  expect(run.usage.cost).toEqual({ amounts: {}, unpriced: 3 })
})

test('an offline model costs nothing that anybody bills', async () => {
  const { bench, run } = await play({}, () => ({ price: 'free' }))
  expect(run.usage.cost).toBeUndefined()
  expect((await bench.store.costs(WORKSPACE, T0, T0, 10)).map(({ completions, cost }) => [completions, cost])).toEqual([
    [3, { amounts: {}, unpriced: 0 }],
  ])
})

test('a run stops at its cap before the next completion, and says both amounts', async () => {
  const { bench, id, run } = await play({ maxCost: { amount: '0.04', currency: 'USD' } })
  expect([run.status, run.error]).toEqual([
    'Failed',
    'The limit max_cost_per_run of USD 0.04 is reached: USD 0.04 used.',
  ])
  expect((await bench.timeline(id)).find(({ type }) => type === 'LimitReached')!.content).toMatchObject({
    limit: 'max_cost_per_run',
    value: 'USD 0.04',
    used: 'USD 0.04',
    action: 'halt',
  })
})

test('an operator who is asked grants the amount of the cap again', async () => {
  const { bench, id } = await play({ maxCost: { amount: '0.04', currency: 'USD' }, limits: { on_limit: 'escalate' } })
  const task = await bench.waitForTask(id)
  expect(task['prompt']).toBe(
    'The limit max_cost_per_run of USD 0.04 is reached: USD 0.04 used. Approve to grant USD 0.04 more, reject to end the run.',
  )
  await bench.engine.answer(id, reply(task, { by: operator(), approved: true }))
  await turns()
  expect(await bench.store.run(id)).toMatchObject({ status: 'Completed', output: 'Seen.' })
})

test.each([
  ['is not known', 'unknown' as const],
  ['has another currency', { ...PRICE, currency: 'EUR' }],
])('no run with a cap starts while the price of its model %s', async (_, price) => {
  await expect(play({ maxCost: { amount: '5.00', currency: 'USD' } }, () => ({ price }))).rejects.toThrow(
    'svc/max-cost-per-run (USD 5.00) cannot be kept, because no price of scripted/root-model in USD is known. Add it under `prices:` in svc.config.yaml.',
  )
})

test('a price that is lost while a run with a cap works ends the run before its next completion', async () => {
  let isKnown = true
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [look] }), maxCost: { amount: '5', currency: 'USD' } }],
    models: { root: () => ({ calls: [{ name: 'look' }] }) },
    tools: {
      look: () => {
        isKnown = false
        return returns('there')
      },
    },
    terms: () => ({ price: isKnown ? PRICE : 'unknown' }),
  })
  const id = await bench.start('root')
  await turns()
  const run = (await bench.store.run(id))!
  expect(run).toMatchObject({ status: 'Failed', errorCode: 'limit_exceeded' })
  expect(run.error).toContain('svc/max-cost-per-run (USD 5) cannot be kept')
  expect((await reasoning(bench, id)).length).toBe(1)
})

test('children share the cap of their parent: one waits while another has reserved what is left', async () => {
  const model = { provider: 'scripted', name: 'm', parameters: { max_output_tokens: 100 } }
  const children = ['a', 'b'].map((name) => ({ ...snapshotOf({ name }), model }))
  const waiting: (() => void)[] = []
  const asked: string[] = []
  const child = (name: string) => () =>
    new Promise<ModelReply>((resolve) => {
      asked.push(name)
      waiting.push(() => resolve('Here.'))
    })
  const bench = await openBench({
    agents: [
      {
        ...snapshotOf({ name: 'root', agents: children.map((each) => boundAgent(each)) }),
        maxCost: { amount: '0.1', currency: 'USD' },
      },
      ...children,
    ],
    models: {
      root: inOrder({ calls: ['a', 'b'].map((name) => ({ name, args: { message: 'go' } })) }, 'Done.'),
      a: child('a'),
      b: child('b'),
    },
    terms: priced,
  })
  const id = await bench.start('root')
  await turns()
  expect(asked).toEqual(['a'])
  waiting[0]!()
  await turns()
  expect(asked).toEqual(['a', 'b'])
  waiting[1]!()
  await turns()
  expect(await bench.store.run(id)).toMatchObject({
    status: 'Completed',
    usage: { cost: { amounts: { USD: '0.04' } } },
  })
})

test('a completion that broke off is booked by its estimate, at the price of the model that was asked', async () => {
  const second = { provider: 'scripted', name: 'second' }
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root' }), fallback: [second] }],
    models: {},
    providers: {
      choose: (_, model) => ({
        async *complete() {
          if (model.name !== 'second') throw new ProviderError('Overloaded.', { retryable: true })
          yield { type: 'text', text: 'four' }
          throw new ProviderError('The line broke.', { retryable: false })
        },
      }),
      maxOutputTokens: () => 10,
      terms: (model) => ({ price: model.name === 'second' ? PRICE : 'unknown' }),
    },
  })
  const id = await bench.start('root')
  await turns()
  const [broken] = await reasoning(bench, id)
  expect(broken).toMatchObject({
    model: 'second',
    finish_reason: 'error',
    cost: { currency: 'USD', parts: { output: '0.001' } },
  })
  expect((await bench.store.run(id))!.usage.cost!.unpriced).toBe(0)
})

test('a prompt that cannot fit the context window is refused before it is sent, and a fallback that reads more is asked', async () => {
  const asked: string[] = []
  const wide = { provider: 'scripted', name: 'wide' }
  const open = (fallback: AgentSnapshot['fallback']) =>
    openBench({
      agents: [
        {
          ...snapshotOf({ name: 'root' }),
          instructions: { text: 'word '.repeat(2000), digest: 'sha256:0' as never },
          ...(fallback && { fallback }),
        },
      ],
      models: {},
      providers: {
        choose: (_, model) => ({
          async *complete() {
            asked.push(model.name)
            yield {
              type: 'end',
              completion: { text: 'Read.', finishReason: 'stop', calls: [], usage: usage(2000, 1) },
            } as const
          },
        }),
        maxOutputTokens: () => 10,
        terms: ({ name }) => ({ price: 'free', contextWindow: name === 'wide' ? 100_000 : 1000 }),
      },
    })
  const alone = await open(undefined)
  const id = await alone.start('root')
  await turns()
  const run = (await alone.store.run(id))!
  expect([run.status, run.errorCode, asked]).toEqual(['Failed', 'model_error', []])
  expect(run.error).toMatch(
    /^The prompt has at least \d+ tokens, and scripted\/root-model reads 1000 at once\. Nothing was sent\.$/,
  )
  const chained = await open([wide])
  const second = await chained.start('root')
  await turns()
  expect((await chained.store.run(second))!.status).toBe('Completed')
  expect(asked).toEqual(['wide'])
})
