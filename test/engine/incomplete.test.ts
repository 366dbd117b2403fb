/** Completions that are not whole: none of their calls is made and their text is no answer. */
import { afterEach, describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import { createProviders } from '../../src/providers/registry/choose.ts'
import { ProviderError, type CompletionRequest, type FinishReason } from '../../src/providers/provider.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { startFakeAnthropic } from '../fakes/anthropic.ts'
import type { FakeAnswer, FakeModel } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { openBench, operator, reply, returns, snapshotOf, tool, turns, type Model, type ModelReply } from './bench.ts'

const pay = tool('pay', { sideEffectClass: 'non_idempotent_write' })
const paying = { text: 'Paying.', calls: [{ name: 'pay', args: { amount: 5 } }] }
/** Says the answers one after the other, and keeps what it was asked. */
function saying(...answers: ModelReply[]): { readonly model: Model; readonly asked: CompletionRequest[] } {
  const asked: CompletionRequest[] = []
  return { asked, model: (request) => answers[asked.push(request) - 1] ?? new Error('asked once too often') }
}

async function play(model: Model, about: Partial<AgentSnapshot> = {}) {
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [pay] }), ...about }],
    models: { root: model },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await turns()
  const { status, output, error, errorCode } = (await bench.store.run(run))!
  return { bench, run, end: { status, output, error, errorCode } }
}

test('a model that does not end its answer is cut off, and not asked again', async () => {
  let sent = 0
  let isClosed = false
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: {},
    providers: {
      choose: () => ({
        async *complete() {
          try {
            for (; ; sent++) yield { type: sent % 2 === 0 ? 'text' : 'hidden', text: 'x'.repeat(1024 * 1024) }
          } finally {
            isClosed = true
          }
        },
      }),
      maxOutputTokens: () => 100,
      terms: () => ({ price: 'free' }),
    },
  })
  const run = await bench.start('root')
  await bench.advance(60_000)
  const { status, error } = (await bench.store.run(run))!
  expect({ status, error, sent, isClosed }).toEqual({
    status: 'Failed',
    error:
      'The model did not end its answer within 1310720 characters. Set max_output_tokens, or look at the model server.',
    sent: 1,
    isClosed: true,
  })
})

const INCOMPLETE: readonly FinishReason[] = ['length', 'context', 'content_filter', 'pause_turn']

test.each(INCOMPLETE)(
  'no call of a completion that ended with %s is made, and its text is no output',
  async (finish) => {
    const { model } = saying(
      { ...paying, finish },
      { text: 'Half', finish },
      { text: 'Half', finish },
      new Error('enough'),
    )
    const { bench, run, end } = await play(model)
    expect(bench.invoked).toEqual([])
    expect(await bench.store.calls({ sessionId: (await bench.store.run(run))!.sessionId })).toEqual([])
    expect(end.status).not.toBe('Completed')
  },
)

test('requests a truncated answer again with twice the output tokens, and uses it when it is complete', async () => {
  const { model, asked } = saying({ ...paying, finish: 'length' }, paying, 'Done.')
  const { bench, run, end } = await play(model, {
    model: { provider: 'scripted', name: 'm', parameters: { max_output_tokens: 100 } },
  })
  expect(asked.map((request) => request.model.parameters?.max_output_tokens)).toEqual([100, 200, 100])
  expect(asked[1]!.messages).toEqual(asked[0]!.messages)
  expect(bench.invoked).toHaveLength(1)
  expect(end).toEqual({ status: 'Completed', output: 'Done.', error: null, errorCode: null })
  const first = (await bench.timeline(run)).find(({ type }) => type === 'Reasoning')!
  expect(first).toMatchObject({
    error: 'The answer was cut at its length.',
    content: {
      text: 'Paying.',
      finish_reason: 'length',
      tool_calls: [],
      usage: { input_tokens: 10, output_tokens: 10 },
    },
  })
})

test('fails the run when an answer is truncated twice', async () => {
  const { model, asked } = saying({ text: 'One', finish: 'length' }, { text: 'One two', finish: 'length' })
  const { end } = await play(model)
  expect(asked).toHaveLength(2)
  expect(end).toEqual({
    status: 'Failed',
    output: null,
    error:
      'The answer was cut at its length of 8192 tokens, which was already more than the first time. Raise model.parameters.max_output_tokens, or ask for less.',
    errorCode: 'completion_truncated',
  })
})

test('limits the second request to the remaining token budget, and fails the run if that is no more than before', async () => {
  const cut: ModelReply = { text: 'One', finish: 'length', tokens: 100 }
  const bounded = { model: { provider: 'scripted', name: 'm', parameters: { max_output_tokens: 100 } } }
  const some = saying(cut, 'Whole.')
  expect((await play(some.model, { ...bounded, limits: { max_tokens_per_run: 450 } })).end.status).toBe('Completed')
  expect(some.asked[1]!.model.parameters?.max_output_tokens).toBe(150)
  const none = saying(cut)
  expect((await play(none.model, { ...bounded, limits: { max_tokens_per_run: 400 } })).end).toEqual({
    status: 'Failed',
    output: null,
    error: 'The answer was cut at its length of 100 tokens, and max_tokens_per_run leaves no room for a longer one.',
    errorCode: 'completion_truncated',
  })
})

test('requests a truncated answer again after an operator grants more tokens', async () => {
  const cut: ModelReply = { text: 'One', finish: 'length', tokens: 100 }
  const { model } = saying(cut, 'Whole.')
  const { bench, run } = await play(model, { limits: { max_tokens_per_run: 199, on_limit: 'escalate' } })
  await bench.engine.answer(run, reply(await bench.waitForTask(run), { by: operator(), approved: true }))
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'Whole.' })
})

test('fails the run as truncated when the provider refuses more output tokens', async () => {
  const refusal = new ProviderError('max_tokens is too large.', { status: 400, retryable: false })
  const { end } = await play(saying({ text: 'One', finish: 'length' }, refusal).model)
  expect(end).toMatchObject({
    status: 'Failed',
    error: 'The answer was cut at its length. Asked for 8192 tokens: max_tokens is too large.',
    errorCode: 'completion_truncated',
  })
})

test('fails the run at once when the provider withholds the answer', async () => {
  const { model, asked } = saying({ text: '', finish: 'content_filter' })
  const { end } = await play(model)
  expect(asked).toHaveLength(1)
  expect(end).toEqual({
    status: 'Failed',
    output: null,
    error: 'The provider withheld the answer: the model refused, or a filter did.',
    errorCode: 'completion_filtered',
  })
})

test('requests an empty answer once more, and fails the run the second time', async () => {
  expect((await play(saying(' \n', 'Whole.').model)).end).toMatchObject({ status: 'Completed', output: 'Whole.' })
  expect((await play(saying('', '').model)).end).toEqual({
    status: 'Failed',
    output: null,
    error: 'The model gave an empty answer twice.',
    errorCode: 'model_error',
  })
})

test('continues a paused answer in another completion, and joins their texts', async () => {
  const { model, asked } = saying(
    { text: 'It is ', finish: 'pause_turn' },
    { text: '4', finish: 'pause_turn' },
    { text: '2.' },
  )
  const { bench, run, end } = await play(model)
  expect(end).toEqual({ status: 'Completed', output: 'It is 42.', error: null, errorCode: null })
  expect(asked[2]!.messages.slice(1)).toEqual([
    { role: 'assistant', text: 'It is ', calls: [] },
    { role: 'assistant', text: '4', calls: [] },
  ])
  expect((await bench.store.run(run))!.usage).toMatchObject({ iterations: 2, inputTokens: 30 })
})

test('stops endless pauses like endless calls', async () => {
  const model: Model = () => ({ text: 'Wait.', finish: 'pause_turn' })
  const { end } = await play(model, { limits: { max_loop_iterations: 3 } })
  expect(end).toMatchObject({
    status: 'Failed',
    error: 'The limit max_loop_iterations of 3 is reached: 3 used.',
    errorCode: 'limit_exceeded',
  })
})

test('does not repair a paused answer as JSON', async () => {
  const { model, asked } = saying('{"a": ', { text: '{"a":', finish: 'pause_turn' }, '{"a": 1}')
  const output = { format: 'json', strict: false, on_invalid: 'repair' } as const
  await play(model, { output })
  expect(JSON.stringify(asked[2]!.messages)).toContain(String.raw`{\"a\": `)
})

describe('over the wire', () => {
  let fake: FakeModel
  afterEach(() => fake.close())

  async function run(vendor: 'anthropic' | 'openai-compatible', answers: readonly FakeAnswer[]) {
    fake = await (vendor === 'anthropic' ? startFakeAnthropic : startFakeOpenai)(answers)
    const base_url = vendor === 'anthropic' ? fake.url : `${fake.url}/v1`
    const bench = await openBench({
      agents: [
        {
          ...snapshotOf({ name: 'root', tools: [pay] }),
          model: { provider: vendor, name: 'm', base_url, secret: 'k', parameters: { max_output_tokens: 50 } },
          secrets: { k: { fromEnv: 'KEY' } },
        },
      ],
      models: {},
      providers: createProviders({ env: { KEY: 'sk-1234567890' }, redactor: createRedactor() }),
      tools: { pay: () => returns('paid') },
    })
    const id = await bench.start('root')
    await bench.waitForEnd(id)
    const { status, output, errorCode } = (await bench.store.run(id))!
    return { end: { status, output, errorCode }, invoked: bench.invoked.length, requests: fake.requests }
  }
  const calls = [{ name: 'pay', arguments: '{"amount": 50' }]

  test.each([
    ['anthropic', { say: 'Half', calls, finish: 'max_tokens' }, 'completion_truncated', [50, 100]],
    ['anthropic', { say: 'Half', calls, finish: 'model_context_window_exceeded' }, 'completion_truncated', [50]],
    ['anthropic', { say: 'I cannot', calls, finish: 'refusal' }, 'completion_filtered', [50]],
    ['anthropic', { finish: 'end_turn' }, 'model_error', [50, 50]],
    ['openai-compatible', { say: 'Half', calls, finish: 'length' }, 'completion_truncated', [50, 100]],
    ['openai-compatible', { say: 'Half', calls, finish: 'MAX_TOKENS' }, 'completion_truncated', [50, 100]],
    ['openai-compatible', { finish: 'content_filter' }, 'completion_filtered', [50]],
    ['openai-compatible', { finish: 'stop' }, 'model_error', [50, 50]],
    // Azure refuses a prompt that its filter found.
    [
      'openai-compatible',
      { status: 400, error: { code: 'content_filter', param: 'prompt', message: 'Filtered.' } },
      'completion_filtered',
      [50],
    ],
    [
      'openai-compatible',
      { status: 400, error: { code: 'invalid_prompt', type: 'invalid_request_error', message: 'Malformed.' } },
      'model_error',
      [50],
    ],
  ] as const)('%s: %o makes no call and fails the run with %s', async (vendor, answer, errorCode, bounds) => {
    const { end, invoked, requests } = await run(vendor, [answer])
    expect(end).toEqual({ status: 'Failed', output: null, errorCode })
    expect(invoked).toBe(0)
    expect(requests.map(({ body }) => body.max_tokens)).toEqual(bounds)
  })

  test('continues an answer that Anthropic paused with everything received, including its own tools', async () => {
    const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'weather' } }
    const found = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }
    const { end, requests } = await run('anthropic', [
      { say: 'Looking. ', blocks: [search, found], finish: 'pause_turn' },
      { say: 'It rains.' },
    ])
    expect(end).toEqual({ status: 'Completed', output: 'Looking. It rains.', errorCode: null })
    expect(requests[1]!.body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Begin.', cache_control: { type: 'ephemeral' } }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Looking. ' }, search, found] },
    ])
  })
})
