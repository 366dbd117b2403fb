import { expect, test } from 'vitest'
import { withModelCassette } from '../../src/providers/cassette.ts'
import {
  ProviderError,
  type ModelCompletion,
  type ModelProvider,
  type ModelProviders,
} from '../../src/providers/provider.ts'
import { createReplay, printExchange, readExchanges, type RecordedExchange } from '../../src/spec/project/cassette.ts'
import { complete, requestWith, user } from './request.ts'

const AGENT = { id: 'acme.a', secrets: {} }
const ONE = '01890000-0000-7000-8000-000000000001'
const TWO = '01890000-0000-7000-8000-000000000002'

const says = (text: string, calls: ModelCompletion['calls'] = []): ModelCompletion => ({
  text,
  finishReason: 'stop',
  calls,
  usage: { inputTokens: 3, outputTokens: 2 },
})

/** Answers in order; an error is thrown. */
const models = (...answers: (ModelCompletion | Error)[]): ModelProviders => ({
  choose: (): ModelProvider => ({
    async *complete() {
      const next = answers.shift()
      if (next === undefined || next instanceof Error) throw next ?? new Error('asked too often')
      yield { type: 'text', text: next.text }
      yield { type: 'end', completion: next }
    },
  }),
  maxOutputTokens: () => 100,
  terms: () => ({ price: 'free' }),
})

/** Records completions to these requests, and gives the recording back as it is on disk. */
async function recorded(providers: ModelProviders, requests: readonly ReturnType<typeof requestWith>[]) {
  const lines: string[] = []
  const recording = withModelCassette(providers, { record: (exchange) => void lines.push(printExchange(exchange)) })
  for (const request of requests) await complete(recording.choose(AGENT, request.model), request).catch(() => {})
  return readExchanges(lines.join(''))
}

const play = (exchanges: readonly RecordedExchange[]): ModelProvider =>
  withModelCassette(models(), { replay: createReplay(exchanges) }).choose(AGENT, { provider: 'openai', name: 'm' })

test('what was recorded is played without asking any model', async () => {
  const exchanges = await recorded(models(says('Hello.')), [requestWith()])
  expect(exchanges.map(({ kind, answer }) => [kind, answer])).toEqual([
    [
      'model',
      {
        completion: {
          text: 'Hello.',
          finishReason: 'stop',
          calls: [],
          usage: { inputTokens: 3, outputTokens: 2 },
        },
      },
    ],
  ])
  expect(await complete(play(exchanges), requestWith())).toEqual({ texts: ['Hello.'], completion: says('Hello.') })
})

test('answers to the same request are played in their order, failures too, then from the first again', async () => {
  const busy = new ProviderError('Busy.', { status: 529, retryable: true, retryAfterMs: 50 })
  const provider = play(await recorded(models(busy, says('Now.')), [requestWith(), requestWith()]))
  await expect(complete(provider, requestWith())).rejects.toMatchObject({
    name: 'ProviderError',
    message: 'Busy.',
    status: 529,
    retryable: true,
    retryAfterMs: 50,
  })
  expect((await complete(provider, requestWith())).texts).toEqual(['Now.'])
  await expect(complete(provider, requestWith())).rejects.toThrow('Busy.')
})

test('ids that are new in every run do not count, and an answer names those of the run it is played in', async () => {
  const asking = (id: string) => requestWith({ messages: [user(`Answer ${id}.`)] })
  const call = (id: string) => [{ id: 'c1', name: 'answer_subagent', arguments: { request_id: id } }]
  const exchanges = await recorded(models(says('', call(ONE))), [asking(ONE)])
  expect((await complete(play(exchanges), asking(TWO))).completion.calls).toEqual(call(TWO))
})

test('a request that was not recorded fails with the difference to the nearest one that was', async () => {
  const exchanges = await recorded(models(says('a'), says('b')), [
    requestWith({ system: 'Another agent.', messages: [user('x'), user('y')] }),
    requestWith({ messages: [user('Refund 180')] }),
  ])
  await expect(complete(play(exchanges), requestWith({ messages: [user('Refund 190')] }))).rejects.toMatchObject({
    retryable: false,
    message: [
      'The recording has no answer to this completion. The nearest recorded request differs:',
      '-           "text": "Refund 180"',
      '+           "text": "Refund 190"',
    ].join('\n'),
  })
})

test.each([
  ['no JSON', 'hello'],
  ['no exchange', '{"kind":"model"}'],
])('a recording with a line that is %s is refused by its number', (_, line) => {
  expect(() => readExchanges(`\n${line}\n`)).toThrow('Line 2 of the recording is not a recorded exchange.')
})
