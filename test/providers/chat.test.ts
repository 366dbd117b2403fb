import { afterEach, describe, expect, test } from 'vitest'
import { createTransport } from '../../src/base/net/transport.ts'
import { createRedactor, Secret } from '../../src/base/secret.ts'
import { createOpenaiProvider } from '../../src/providers/openai/openai.ts'
import { ProviderError, type ModelMessage } from '../../src/providers/provider.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { FakeModel, FakeScript } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { clockAt, complete, hiddenOf, requestWith, user } from './request.ts'

let fake: FakeModel
afterEach(() => fake.close())

const KEY = 'sk-test-1234567890'
async function start(script: FakeScript, options: { compatible?: boolean; path?: string; keyless?: boolean } = {}) {
  fake = await startFakeOpenai(script)
  return createOpenaiProvider({
    ...(!options.keyless && { key: new Secret(KEY) }),
    // An address that ends like this asks for chat completions.
    baseUrl: fake.url + (options.path ?? '/v1/chat/completions'),
    fetch: createTransport({ keepAlive: true, plainBodies: true }),
    redactor: createRedactor(),
    clock: clockAt(Date.parse('2026-01-01T00:00:00Z')),
    vendor: options.compatible ? 'compatible' : 'openai',
  })
}
const model = { provider: 'openai', name: 'gpt-test' }

test('streams text and ends with the completion and its usage', async () => {
  const provider = await start([{ say: 'Hello there', usage: { input: 12, output: 3 } }])
  expect(await complete(provider, requestWith({ model }))).toEqual({
    texts: ['Hello t', 'here'],
    // The model that answered, as it names itself.
    completion: {
      text: 'Hello there',
      finishReason: 'stop',
      calls: [],
      usage: { inputTokens: 12, outputTokens: 3 },
      servedBy: 'fake',
    },
  })
  expect(fake.requests[0]?.path).toBe('/v1/chat/completions')
  expect(fake.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`)
  expect(fake.requests[0]?.body).toEqual({
    model: 'gpt-test',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
    stream: true,
    stream_options: { include_usage: true },
  })
})

test('arguments are told apart from the text as they arrive', async () => {
  const provider = await start([
    { say: 'Looking.', calls: [{ id: 'c1', name: 'lookup', arguments: { order: 'A-1' } }] },
  ])
  expect(await hiddenOf(provider, requestWith({ model }))).toBe('{"order":"A-1"}')
})

test('calls travel both ways, also those whose arguments are no JSON', async () => {
  const provider = await start([
    {
      calls: [
        { id: 'c1', name: 'lookup', arguments: { order: 'A-1' } },
        { id: 'c2', name: 'stock', arguments: '{"sku": ' },
      ],
      usage: { input: 1, output: 1 },
    },
  ])
  const tools = [
    {
      name: 'lookup',
      description: 'Finds an order',
      schema: { type: 'object', properties: { order: { type: 'string' } } },
    },
  ]
  const { completion } = await complete(provider, requestWith({ model, tools }))
  expect(completion).toEqual({
    text: '',
    finishReason: 'tool_calls',
    calls: [
      { id: 'c1', name: 'lookup', arguments: { order: 'A-1' } },
      { id: 'c2', name: 'stock', arguments: { $unparsed: '{"sku": ' } },
    ],
    usage: { inputTokens: 1, outputTokens: 1 },
    servedBy: 'fake',
  })
  const messages: ModelMessage[] = [
    user('Hello'),
    { role: 'assistant', text: '', calls: completion.calls },
    { role: 'tool', callId: 'c1', name: 'lookup', content: '{"status":"lost"}', isError: false },
    { role: 'tool', callId: 'c2', name: 'stock', content: 'not JSON', isError: true },
  ]
  await complete(provider, requestWith({ model, tools, messages }))
  expect(fake.requests[1]?.body.tools).toEqual([
    {
      type: 'function',
      function: {
        name: 'lookup',
        description: 'Finds an order',
        parameters: { type: 'object', properties: { order: { type: 'string' } } },
      },
    },
  ])
  expect(fake.requests[1]?.body.messages.slice(2)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"order":"A-1"}' } },
        { id: 'c2', type: 'function', function: { name: 'stock', arguments: '{"sku": ' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"status":"lost"}' },
    { role: 'tool', tool_call_id: 'c2', content: 'not JSON' },
  ])
})

test('parameters, reasoning and options are passed on, options last and the script never', async () => {
  const provider = await start([{ say: 'ok' }])
  await complete(
    provider,
    requestWith({
      model: {
        ...model,
        parameters: { temperature: 0.5, max_output_tokens: 100, stop_sequences: ['END'] },
        reasoning: { effort: 'low' },
        provider_options: { script: 'x.yaml', seed: 7, temperature: 0.1 },
      },
    }),
  )
  expect(fake.requests[0]?.body).toMatchObject({
    temperature: 0.1,
    max_completion_tokens: 100,
    stop: ['END'],
    reasoning_effort: 'low',
    seed: 7,
  })
  expect(fake.requests[0]?.body).not.toHaveProperty('script')
})

test('another server is asked for max_tokens, needs no key, and may be named by its endpoint', async () => {
  const provider = await start([{ say: 'ok' }], { compatible: true, path: '/api/chat/completions', keyless: true })
  const { completion } = await complete(
    provider,
    requestWith({ model: { ...model, parameters: { max_output_tokens: 9 } } }),
  )
  expect(fake.requests[0]?.path).toBe('/api/chat/completions')
  expect(fake.requests[0]?.headers['authorization']).toBeUndefined()
  expect(fake.requests[0]?.body.max_tokens).toBe(9)
  // It reported no usage, so it is estimated from the lengths of the texts.
  expect(completion.usage).toEqual({ inputTokens: 4, outputTokens: 1, estimated: true })
})

test.each([
  [
    'a closed schema is enforced',
    { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false },
    true,
  ],
  ['an open schema is only told', { type: 'object', properties: { a: { type: 'number' } } }, false],
  ['ten levels are enforced', nested(9), true],
  ['more levels are only told', nested(10), false],
])('structured output: %s', async (_, outputSchema, strict) => {
  const provider = await start([{ say: '{"a":1}' }])
  await complete(provider, requestWith({ model, outputSchema }))
  expect(fake.requests[0]?.body.response_format).toEqual({
    type: 'json_schema',
    json_schema: { name: 'output', schema: outputSchema, strict },
  })
})

/** Closed objects, one in the other, around a text. */
function nested(levels: number): JsonObject {
  const inner: JsonObject = levels === 1 ? { type: 'string' } : nested(levels - 1)
  return { type: 'object', properties: { a: inner }, required: ['a'], additionalProperties: false }
}

test('images and PDFs are parts of the message', async () => {
  const provider = await start([{ say: 'ok' }])
  const bytes = new Uint8Array([1, 2, 3])
  const parts = [
    { type: 'text', text: 'Look' },
    { type: 'file', filename: 'a.png', mediaType: 'image/png', bytes },
    { type: 'file', filename: 'b.pdf', mediaType: 'application/pdf', bytes },
  ] as const
  await complete(provider, requestWith({ model, messages: [{ role: 'user', parts }] }))
  expect(fake.requests[0]?.body.messages[1].content).toEqual([
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    { type: 'file', file: { filename: 'b.pdf', file_data: 'data:application/pdf;base64,AQID' } },
  ])
})

describe('failures', () => {
  const failing = async (script: FakeScript): Promise<ProviderError> => {
    const provider = await start(script)
    const error: unknown = await complete(provider, requestWith({ model })).catch((each: unknown) => each)
    if (error instanceof ProviderError) return error
    throw new Error('No ProviderError', { cause: error })
  }

  test.each([
    [
      { status: 401, error: { message: `Incorrect API key provided: ${KEY}.` } },
      'The model provider answered 401: Incorrect API key provided: ***.',
      401,
      false,
      undefined,
    ],
    [
      { status: 429, error: { message: 'Slow down' }, headers: { 'retry-after': '7' } },
      'The model provider answered 429: Slow down',
      429,
      true,
      7000,
    ],
    [
      { status: 503, error: { message: 'Busy' }, headers: { 'retry-after-ms': '250' } },
      'The model provider answered 503: Busy',
      503,
      true,
      250,
    ],
    [
      { say: 'Half an', cut: true },
      'The connection to the model provider failed: The connection was closed early.',
      undefined,
      true,
      undefined,
    ],
    [
      { say: 'Half', error: { message: 'Overloaded' } },
      'The model provider broke off: Overloaded',
      undefined,
      true,
      undefined,
    ],
  ])('%j', async (answer, message, status, retryable, retryAfterMs) => {
    const error = await failing([answer])
    expect([error.message, error.status, error.retryable, error.retryAfterMs]).toEqual([
      message,
      status,
      retryable,
      retryAfterMs,
    ])
    expect(fake.requests).toHaveLength(1)
  })

  test('a stream that ends without a finish reason is broken', async () => {
    const error = await failing([{ say: 'Half', finish: '' }])
    expect([error.message, error.retryable]).toEqual([
      'The model provider closed the stream before the answer was complete.',
      true,
    ])
  })

  test('a server that does not answer the door can be tried again', async () => {
    const provider = await start([])
    await fake.close()
    const error = (await complete(provider, requestWith({ model })).catch((each: unknown) => each)) as ProviderError
    expect(error.retryable).toBe(true)
    expect(error.message).toMatch(/^The connection to the model provider failed: connect ECONNREFUSED/)
    fake = await startFakeOpenai([])
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

test('pieces of a signed detail of reasoning go back as one', async () => {
  const detail = (more: JsonObject) => ({ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', ...more })
  const deltas = [
    { reasoning_details: [detail({ text: 'Let' })] },
    { reasoning_details: [detail({ text: ' me.' })] },
    { reasoning_details: [detail({ signature: 'c2ln' })] },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'AQID', index: 1 }] },
    { tool_calls: [{ index: 0, id: 'c1', function: { name: 'lookup', arguments: '{}' } }] },
  ]
  const raw = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`).join('')
  const provider = await start([{ raw: `${raw}data: [DONE]\n\n` }], { compatible: true })
  const { completion } = await complete(provider, requestWith({ model }))
  expect(completion.hidden).toEqual({
    chat: {
      reasoning_details: [
        detail({ text: 'Let me.', signature: 'c2ln' }),
        { type: 'reasoning.encrypted', data: 'AQID', index: 1 },
      ],
    },
  })
})

describe('a server that refuses what svc asks for by itself', () => {
  const refuse = (status: number, message: string) => ({ status, error: { message } })
  const outputSchema = { type: 'object', properties: {}, additionalProperties: false }
  const wishesOf = () =>
    fake.requests.map(({ body }) => ['stream_options', 'response_format'].filter((name) => name in body))

  test('is asked without it, and never again with it', async () => {
    const provider = await start(
      [
        refuse(422, 'body.stream_options: Extra inputs are not permitted'),
        refuse(400, 'This response_format type is unavailable now'),
        { say: '{}' },
        { say: '{}' },
      ],
      { compatible: true },
    )
    const request = requestWith({ model, outputSchema })
    expect((await complete(provider, request)).completion.text).toBe('{}')
    await complete(provider, request)
    expect(wishesOf()).toEqual([['stream_options', 'response_format'], ['response_format'], [], []])
  })

  test('is asked with it again where the request was refused for another reason, too', async () => {
    const provider = await start(
      [refuse(400, 'stream_options is not known'), refuse(400, 'No such model'), { say: 'ok' }],
      { compatible: true },
    )
    await expect(complete(provider, requestWith({ model }))).rejects.toThrow('No such model')
    await complete(provider, requestWith({ model }))
    expect(wishesOf()).toEqual([['stream_options'], [], ['stream_options']])
  })

  test('fails the request where the author asked for it', async () => {
    const provider = await start([refuse(400, 'stream_options is not known')], { compatible: true })
    const given = { ...model, provider_options: { stream_options: { include_usage: true } } }
    await expect(complete(provider, requestWith({ model: given }))).rejects.toThrow('stream_options is not known')
    expect(fake.requests).toHaveLength(1)
  })
})
