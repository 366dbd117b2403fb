import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { createTransport } from '../../src/base/net/transport.ts'
import { createRedactor, Secret } from '../../src/base/secret.ts'
import { createAnthropicProvider } from '../../src/providers/anthropic/anthropic.ts'
import { ProviderError, type ModelMessage } from '../../src/providers/provider.ts'
import { startFakeAnthropic } from '../fakes/anthropic.ts'
import type { FakeModel, FakeScript } from '../fakes/model-server.ts'
import { clockAt, complete, hiddenOf, requestWith, user } from './request.ts'

let fake: FakeModel
afterEach(() => fake.close())

const KEY = 'sk-ant-test-1234567890'
async function start(script: FakeScript) {
  fake = await startFakeAnthropic(script)
  return createAnthropicProvider({
    key: new Secret(KEY),
    baseUrl: fake.url,
    fetch: createTransport({ keepAlive: true, plainBodies: true }),
    redactor: createRedactor(),
    clock: clockAt(0),
  })
}
const model = { provider: 'anthropic', name: 'claude-test' }
/** What a breakpoint of the vendor's cache is. */
const cache_control = { type: 'ephemeral' }

test('streams text and ends with the completion and its usage', async () => {
  const provider = await start([{ say: 'Hello there', usage: { input: 12, output: 3 } }])
  expect(await complete(provider, requestWith({ model }))).toEqual({
    texts: ['Hello t', 'here'],
    completion: {
      text: 'Hello there',
      finishReason: 'stop',
      calls: [],
      usage: { inputTokens: 12, outputTokens: 3 },
      servedBy: 'fake',
    },
  })
  expect(fake.requests[0]?.path).toBe('/v1/messages')
  expect(fake.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`)
  expect(fake.requests[0]?.body).toEqual({
    model: 'claude-test',
    max_tokens: 4096,
    system: [{ type: 'text', text: 'Be brief.', cache_control }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control }] }],
    stream: true,
  })
})

test('cached input is part of the input, and thinking of the output', async () => {
  const provider = await start([
    { say: 'ok', usage: { input: 3, output: 20, cached: 100, written: 50, reasoning: 12 } },
  ])
  expect((await complete(provider, requestWith({ model }))).completion.usage).toEqual({
    inputTokens: 153,
    outputTokens: 20,
    cachedInputTokens: 100,
    cacheWriteTokens: 50,
    reasoningTokens: 12,
  })
})

test.each([
  [{ cache_control: { type: 'ephemeral', ttl: '1h' } }, { type: 'ephemeral', ttl: '1h' }],
  [{ cache_control: null }, undefined],
])('the option %j makes the breakpoint %j', async (provider_options, expected) => {
  const provider = await start([{ say: 'ok' }])
  await complete(provider, requestWith({ model: { ...model, provider_options } }))
  const { system, messages, ...rest } = fake.requests[0]!.body
  expect([system[0].cache_control, messages[0].content[0].cache_control]).toEqual([expected, expected])
  expect(rest).not.toHaveProperty('cache_control')
})

test('thinking and arguments are told apart from the text as they arrive', async () => {
  const thinking = { text: 'Let me look it up.', signature: 'c2ln' }
  const calls = [{ id: 't1', name: 'lookup', arguments: { order: 'A-1' } }]
  const provider = await start([{ thinking, say: 'Looking.', calls }])
  expect(await hiddenOf(provider, requestWith({ model }))).toBe('Let me look it up.{"order":"A-1"}')
})

test('calls travel both ways: results are one turn of the user, with signed thinking before the calls', async () => {
  const provider = await start([
    {
      thinking: { text: 'Let me look it up.', signature: 'c2ln' },
      say: 'Looking.',
      calls: [
        { id: 't1', name: 'lookup', arguments: { order: 'A-1' } },
        { id: 't2', name: 'stock', arguments: {} },
      ],
    },
  ])
  const tools = [{ name: 'lookup', description: 'Finds an order', schema: true }]
  const { texts, completion } = await complete(provider, requestWith({ model, tools }))
  expect(texts.join('')).toBe('Looking.')
  expect(completion).toEqual({
    text: 'Looking.',
    finishReason: 'tool_calls',
    calls: [
      { id: 't1', name: 'lookup', arguments: { order: 'A-1' } },
      { id: 't2', name: 'stock', arguments: {} },
    ],
    usage: { inputTokens: 10, outputTokens: 5 },
    servedBy: 'fake',
    hidden: { thinking: [{ type: 'thinking', thinking: 'Let me look it up.', signature: 'c2ln' }] },
  })
  const messages: ModelMessage[] = [
    user('Hello'),
    {
      role: 'assistant',
      text: 'Looking.',
      calls: completion.calls,
      ...(completion.hidden && { hidden: completion.hidden }),
    },
    { role: 'tool', callId: 't1', name: 'lookup', content: '{"status":"lost"}', isError: false },
    { role: 'tool', callId: 't2', name: 'stock', content: 'denied', isError: true },
    user('Hurry'),
  ]
  await complete(provider, requestWith({ model, tools, messages }))
  expect(fake.requests[1]?.body.tools).toEqual([
    { name: 'lookup', description: 'Finds an order', input_schema: { type: 'object' }, cache_control },
  ])
  expect(fake.requests[1]?.body.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me look it up.', signature: 'c2ln' },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 't1', name: 'lookup', input: { order: 'A-1' } },
        { type: 'tool_use', id: 't2', name: 'stock', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: '{"status":"lost"}' },
        { type: 'tool_result', tool_use_id: 't2', content: 'denied', is_error: true },
        { type: 'text', text: 'Hurry', cache_control },
      ],
    },
  ])
})

test.each([
  ['low', undefined, 1024, 4096],
  ['medium', undefined, 4096, 8192],
  ['high', undefined, 16_384, 20_480],
  ['high', 32_000, 16_384, 32_000],
  ['low', 500, 1024, 1524],
] as const)('effort %s with max_output_tokens %s thinks with %i within %i', async (effort, max, budget, maxTokens) => {
  const provider = await start([{ say: 'ok' }])
  const parameters = max === undefined ? {} : { max_output_tokens: max }
  await complete(
    provider,
    requestWith({
      model: {
        ...model,
        reasoning: { effort },
        parameters,
        provider_options: { script: 'x', metadata: { user_id: 'u' } },
      },
    }),
  )
  expect(fake.requests[0]?.body).toMatchObject({
    thinking: { type: 'enabled', budget_tokens: budget },
    max_tokens: maxTokens,
    metadata: { user_id: 'u' },
  })
  expect(fake.requests[0]?.body).not.toHaveProperty('script')
})

test.each([
  ['claude-opus-4-8', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  ['claude-sonnet-5', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  ['claude-opus-4-20250514', { thinking: { type: 'enabled', budget_tokens: 16_384 } }],
  ['claude-haiku-4-5-20251001', { thinking: { type: 'enabled', budget_tokens: 16_384 } }],
  ['claude-3-7-sonnet-20250219', { thinking: { type: 'enabled', budget_tokens: 16_384 } }],
])('%s thinks as its version does', async (name, expected) => {
  const provider = await start([{ say: 'ok' }])
  await complete(provider, requestWith({ model: { ...model, name, reasoning: { effort: 'high' } } }))
  const { thinking, output_config } = fake.requests[0]!.body
  expect({ thinking, output_config }).toEqual(expected)
})

test('images and PDFs are parts of the message', async () => {
  const provider = await start([{ say: 'ok' }])
  const bytes = new Uint8Array([1, 2, 3])
  const parts = [
    { type: 'file', filename: 'a.png', mediaType: 'image/png', bytes },
    { type: 'file', filename: 'b.pdf', mediaType: 'application/pdf', bytes },
  ] as const
  await complete(provider, requestWith({ model, messages: [{ role: 'user', parts }] }))
  expect(fake.requests[0]?.body.messages[0].content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } },
    {
      type: 'document',
      title: 'b.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AQID' },
      cache_control,
    },
  ])
})

test.each([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context'],
  ['stop_sequence', 'stop'],
  ['refusal', 'content_filter'],
  ['pause_turn', 'pause_turn'],
])('the stop reason %s is %s', async (finish, finishReason) => {
  const provider = await start([{ say: 'x', finish }])
  expect((await complete(provider, requestWith({ model }))).completion.finishReason).toBe(finishReason)
})

test.each([
  ['{"amount": 5}', { amount: 5 }],
  ['{"amount": 9007199254740993}', { $unparsed: '9007199254740992' }],
  ['{"amount": [-1e400]}', { $unparsed: '-1e400' }],
])('arguments %s that come in one piece are kept where their numbers are', async (whole, kept) => {
  const provider = await start([{ calls: [{ name: 'pay', arguments: {}, whole }] }])
  expect((await complete(provider, requestWith({ model }))).completion.calls).toEqual([
    { id: 'toolu_0', name: 'pay', arguments: kept },
  ])
})

test('an answer that ended for a reason that is not known has a form problem', async () => {
  const provider = await start([{ say: 'x', finish: 'moonlight' }])
  await expect(complete(provider, requestWith({ model }))).rejects.toMatchObject({
    message:
      'The model provider answered in a form that its API does not have: message_delta.delta.stop_reason is "moonlight", which is not a known reason to end an answer',
    place: 'message_delta.delta.stop_reason',
    retryable: false,
  })
})

describe('failures', () => {
  test.each([
    [
      { status: 401, error: { message: `invalid x-api-key ${KEY}` } },
      'The model provider answered 401: invalid x-api-key ***',
      401,
      false,
    ],
    [
      { status: 529, error: { type: 'overloaded_error', message: 'Overloaded' } },
      'The model provider answered 529: Overloaded',
      529,
      true,
    ],
    [
      { say: 'Half', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'The model provider broke off: Overloaded',
      undefined,
      true,
    ],
    [
      { say: 'Half', error: { type: 'invalid_request_error', message: 'Too long' } },
      'The model provider broke off: Too long',
      undefined,
      false,
    ],
    [
      { say: 'Half', cut: true },
      'The connection to the model provider failed: The connection was closed early.',
      undefined,
      true,
    ],
  ])('%j', async (answer, message, status, retryable) => {
    const provider = await start([answer])
    const error = (await complete(provider, requestWith({ model })).catch((each: unknown) => each)) as ProviderError
    expect(error).toBeInstanceOf(ProviderError)
    expect([error.message, error.status, error.retryable]).toEqual([message, status, retryable])
    expect(fake.requests).toHaveLength(1)
  })
})

test('an abort in the middle of a stream ends it with the reason', async () => {
  const provider = await start([{ say: 'Hello there', hang: true }])
  const controller = new AbortController()
  const stream = provider.complete(requestWith({ model }), controller.signal)[Symbol.asyncIterator]()
  await stream.next()
  controller.abort(new Error('cancelled'))
  await expect(async () => {
    while (!(await stream.next()).done);
  }).rejects.toThrow('cancelled')
})

test('a strict output is asked for as structured output; what the vendor cannot check is told in words', async () => {
  const provider = await start([{ say: '{}' }])
  const outputSchema = {
    type: 'object',
    properties: { count: { type: 'integer', minimum: 1 }, mood: { enum: ['good', 'bad'] } },
    required: ['count'],
  }
  await complete(provider, requestWith({ model, outputSchema }))
  expect(fake.requests[0]?.body).toMatchObject({
    output_config: {
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { count: { type: 'integer', description: '{minimum: 1}' }, mood: { enum: ['good', 'bad'] } },
          required: ['count'],
          additionalProperties: false,
        },
      },
    },
  })
})

test.each<[string, JsonObject | boolean]>([
  ['no object', { type: 'array', items: { type: 'string' } }],
  ['anything', true],
  ['a map', { type: 'object', properties: { by_name: { type: 'object', additionalProperties: { type: 'string' } } } }],
  ['open', { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true }],
  ['untyped within', { type: 'object', properties: { a: {} } }],
  ['recursive', { type: 'object', properties: { child: { $ref: '#' } } }],
])('an output that is %s is validated by the engine alone', async (_, outputSchema) => {
  const provider = await start([{ say: '{}' }])
  await complete(provider, requestWith({ model, outputSchema }))
  expect(fake.requests[0]?.body).not.toHaveProperty('output_config')
})
