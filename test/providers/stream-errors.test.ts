/** Errors that servers send within an answer of status 200, each as it comes over the wire, and what a person reads. */
import { afterEach, expect, test } from 'vitest'
import type { ProviderError } from '../../src/providers/provider.ts'
import { startFakeModel, type FakeModel } from '../fakes/model-server.ts'
import { openAt } from './open-at.ts'
import { complete, requestWith } from './request.ts'

let fake: FakeModel | undefined
afterEach(() => fake?.close())

type Wire = Parameters<typeof openAt>[0]

const said: Readonly<Record<Wire, object>> = {
  'openai-compatible': { choices: [{ delta: { content: 'hel' } }] },
  openai: { type: 'response.output_text.delta', delta: 'hel' },
  anthropic: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hel' } },
  gemini: { candidates: [{ content: { role: 'model', parts: [{ text: 'hel' }] } }] },
}
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const DONE = 'data: [DONE]\n\n'

/** Another attempt may not meet it. */
const PASSES = [true, 'provider_unreachable'] as const
/** Another attempt would cost as much and meet it again. */
const STAYS = [false, undefined] as const
const QUOTA = [false, 'quota_spent'] as const

const CASES: readonly (readonly [
  name: string,
  wire: Wire,
  sent: string,
  message: string,
  about: readonly [retryable: boolean, outage: string | undefined],
])[] = [
  [
    'vLLM: the status as code',
    'openai-compatible',
    data({ error: { message: 'The context is full.', type: 'BadRequestError', code: 400 } }) + DONE,
    'The model provider broke off: The context is full.',
    STAYS,
  ],
  [
    'a flat error, then [DONE]: half an answer is none',
    'openai-compatible',
    data({ object: 'error', message: 'The worker died.', type: 'InternalServerError', code: 500 }) + DONE,
    'The model provider broke off: The worker died.',
    PASSES,
  ],
  [
    'OpenRouter: no credits are left',
    'openai-compatible',
    data({ error: { code: 402, message: 'No credits' }, choices: [{ delta: {}, finish_reason: 'error' }] }),
    "The model provider broke off: No credits. The account's quota is used up: raise it at the vendor.",
    QUOTA,
  ],
  [
    'OpenRouter: what the provider behind it said',
    'openai-compatible',
    data({ error: { code: 502, message: 'Provider returned error', metadata: { raw: '{"error":"overloaded"}' } } }),
    'The model provider broke off: Provider returned error: overloaded',
    PASSES,
  ],
  [
    'a wrong key, with status 200',
    'openai-compatible',
    data({ error: { code: '401', message: 'No such user' } }),
    'The model provider broke off: No such user. Check the key in HOUSE_KEY.',
    STAYS,
  ],
  [
    'llama.cpp: a field named error',
    'openai-compatible',
    'error: {"code":400,"message":"The prompt is too long.","type":"exceed_context_size_error"}\n\n',
    'The model provider broke off: The prompt is too long.',
    STAYS,
  ],
  [
    'Text Generation Inference: a text and a type',
    'openai-compatible',
    data({ error: 'inputs must have less than 1024 tokens', error_type: 'validation' }),
    'The model provider broke off: inputs must have less than 1024 tokens',
    STAYS,
  ],
  [
    'DashScope: a code and a message',
    'openai-compatible',
    data({ code: 'DataInspectionFailed', message: 'The output is inappropriate.', request_id: 'x' }),
    'The model provider broke off: The output is inappropriate.',
    STAYS,
  ],
  [
    'MiniMax: the outcome beside no choices',
    'openai-compatible',
    data({ choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }),
    'The model provider broke off: rate limit',
    PASSES,
  ],
  [
    'a gateway: a code and msg',
    'openai-compatible',
    data({ code: 404, msg: 'No such route', success: false }),
    'The model provider broke off: No such route. Check model.name and base_url.',
    STAYS,
  ],
  [
    'an event named error that is a text',
    'openai-compatible',
    'event: error\ndata: upstream timed out\n\n',
    'The model provider broke off: upstream timed out',
    PASSES,
  ],
  [
    'an event named error with a message',
    'anthropic',
    'event: error\ndata: {"message":"upstream timed out","code":504}\n\n',
    'The model provider broke off: upstream timed out',
    PASSES,
  ],
  [
    'an event named error of a type that stays',
    'anthropic',
    `event: error\n${data({ type: 'error', error: { type: 'invalid_request_error', message: 'No such tool' } })}`,
    'The model provider broke off: No such tool',
    STAYS,
  ],
  [
    'a code in place of a type',
    'openai',
    data({ type: 'error', code: 'context_length_exceeded', message: 'The input is too long.', param: 'input' }),
    'The model provider broke off: The input is too long.',
    STAYS,
  ],
  [
    'the body of a refusal after the events',
    'gemini',
    JSON.stringify({ error: { code: 400, message: 'Too many tokens', status: 'INVALID_ARGUMENT' } }, null, 2),
    'The model provider broke off: Too many tokens',
    STAYS,
  ],
  [
    'an error as an event',
    'gemini',
    data({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
    'The model provider broke off: The model is overloaded.',
    PASSES,
  ],
]

test.each(CASES)('%s (%s)', async (_, wire, sent, message, [retryable, outage]) => {
  const headers = { 'content-type': 'text/event-stream' }
  for (const raw of [data(said[wire]) + sent, sent]) {
    fake = await startFakeModel([{ raw, headers }], () => {})
    const error = await complete(openAt(wire, fake.url), requestWith()).catch((each: unknown) => each)
    await fake.close()
    const { name, message: text, retryable: isRetryable, outage: reason } = error as ProviderError
    expect([name, text, isRetryable, reason]).toEqual(['ProviderError', message, retryable, outage])
  }
})

test('a plain body of status 200 that is no answer is a refusal', async () => {
  const headers = { 'content-type': 'application/json' }
  fake = await startFakeModel([{ raw: JSON.stringify({ code: 401, message: 'No such user' }), headers }], () => {})
  const error = await complete(openAt('openai-compatible', fake.url), requestWith()).catch((each: unknown) => each)
  expect(error).toMatchObject({
    message: 'The model provider broke off: No such user. Check the key in HOUSE_KEY.',
    retryable: false,
  })
})

test('a plain body of something else is no answer that broke off', async () => {
  const headers = { 'content-type': 'application/json' }
  fake = await startFakeModel([{ raw: '{"status":"healthy"}', headers }], () => {})
  const error = await complete(openAt('openai-compatible', fake.url), requestWith()).catch((each: unknown) => each)
  expect(error).toMatchObject({
    message: 'The model provider answered with something other than a completion. Check base_url.',
    outage: undefined,
  })
})

test('what a server sends deeper than 256 levels is not read', async () => {
  const deep = `{"choices":${'['.repeat(300)}${']'.repeat(300)}}`
  fake = await startFakeModel([{ raw: `data: ${deep}\n\n` }], () => {})
  const error = await complete(openAt('openai-compatible', fake.url), requestWith()).catch((each: unknown) => each)
  expect((error as Error).message).toBe(
    `The model provider house (${new URL(fake.url).host}) answered in a form that its API does not have: event 1 is nested deeper than 256 levels`,
  )
})

test('an event of lines without an end is cut off', async () => {
  const raw = `data: ${'x'.repeat(8 * 1024 * 1024)}\n`.repeat(3)
  fake = await startFakeModel([{ raw, headers: { 'content-type': 'text/event-stream' } }], () => {})
  const error = await complete(openAt('openai-compatible', fake.url), requestWith()).catch((each: unknown) => each)
  expect((error as Error).message).toBe('The model provider sent a line or a text of more than 16 MiB. Check base_url.')
})
