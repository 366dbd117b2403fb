import { afterEach, describe, expect, test } from 'vitest'
import { createTransport } from '../../src/base/net/transport.ts'
import { createRedactor, Secret } from '../../src/base/secret.ts'
import { createOpenaiProvider } from '../../src/providers/openai/openai.ts'
import type { ModelMessage, ProviderError } from '../../src/providers/provider.ts'
import type { FakeModel, FakeScript } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { clockAt, complete, hiddenOf, requestWith, user } from './request.ts'

let fake: FakeModel
afterEach(() => fake.close())

const KEY = 'sk-test-1234567890'
async function start(script: FakeScript) {
  fake = await startFakeOpenai(script)
  return createOpenaiProvider({
    key: new Secret(KEY),
    baseUrl: `${fake.url}/v1`,
    fetch: createTransport({ keepAlive: true, plainBodies: true }),
    redactor: createRedactor(),
    clock: clockAt(0),
    vendor: 'openai',
    remedies: { key: 'Check the key in OPENAI_KEY.', model: 'Check model.name.', address: 'Check base_url.' },
  })
}
const model = { provider: 'openai', name: 'gpt-test' }

test('streams text, asks the vendor to store nothing, and counts cached and reasoning tokens', async () => {
  const provider = await start([
    { say: 'Hello there', usage: { input: 12, output: 3, cached: 8, written: 2, reasoning: 1 } },
  ])
  expect(await complete(provider, requestWith({ model }))).toEqual({
    texts: ['Hello t', 'here'],
    completion: {
      text: 'Hello there',
      finishReason: 'stop',
      calls: [],
      usage: { inputTokens: 12, outputTokens: 3, cachedInputTokens: 8, cacheWriteTokens: 2, reasoningTokens: 1 },
    },
  })
  expect(fake.requests[0]?.path).toBe('/v1/responses')
  expect(fake.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`)
  expect(fake.requests[0]?.body).toEqual({
    model: 'gpt-test',
    instructions: 'Be brief.',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
    store: false,
    include: ['reasoning.encrypted_content'],
    stream: true,
  })
})

const closed = {
  type: 'object',
  properties: { order: { type: 'string' } },
  required: ['order'],
  additionalProperties: false,
}
const tools = [
  { name: 'lookup', description: 'Finds an order', schema: closed },
  { name: 'stock', description: 'Counts', schema: { type: 'object', properties: { sku: { type: 'string' } } } },
]

test('parallel calls travel both ways, with the encrypted reasoning before them', async () => {
  const provider = await start([
    {
      thinking: { text: 'Let me look.', signature: 'gAAA' },
      say: 'Looking.',
      calls: [
        { id: 'c1', name: 'lookup', arguments: { order: 'A-1' } },
        { id: 'c2', name: 'stock', arguments: '{"sku": ' },
      ],
    },
  ])
  const { completion } = await complete(provider, requestWith({ model, tools }))
  const reasoning = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Let me look.' }],
    encrypted_content: 'gAAA',
  }
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
  }
  expect(completion).toMatchObject({
    text: 'Looking.',
    finishReason: 'tool_calls',
    calls: [
      { id: 'c1', name: 'lookup', arguments: { order: 'A-1' } },
      { id: 'c2', name: 'stock', arguments: { $unparsed: '{"sku": ' } },
    ],
    hidden: {
      items: [reasoning, message, { type: 'function_call', id: 'fc_0' }, { type: 'function_call', id: 'fc_1' }],
    },
  })
  expect(fake.requests[0]?.body.tools.map(({ strict }: { strict: boolean }) => strict)).toEqual([true, false])

  const messages: ModelMessage[] = [
    user('Hello'),
    { role: 'assistant', text: 'Looking.', calls: completion.calls, hidden: completion.hidden! },
    { role: 'tool', callId: 'c1', name: 'lookup', content: '{"status":"lost"}', isError: false },
    { role: 'tool', callId: 'c2', name: 'stock', content: 'not JSON', isError: true },
  ]
  await complete(provider, requestWith({ model, tools, messages }))
  expect(fake.requests[1]?.body.input.slice(1)).toEqual([
    reasoning,
    message,
    { type: 'function_call', id: 'fc_0', call_id: 'c1', name: 'lookup', arguments: '{"order":"A-1"}' },
    { type: 'function_call', id: 'fc_1', call_id: 'c2', name: 'stock', arguments: '{"sku": ' },
    { type: 'function_call_output', call_id: 'c1', output: '{"status":"lost"}' },
    { type: 'function_call_output', call_id: 'c2', output: 'not JSON' },
  ])
})

test('reasoning and arguments are told apart from the text as they arrive', async () => {
  const provider = await start([
    {
      thinking: { text: 'Hm.', signature: 's' },
      say: 'Looking.',
      calls: [{ name: 'lookup', arguments: { order: 1 } }],
    },
  ])
  expect(await hiddenOf(provider, requestWith({ model }))).toBe('Hm.{"order":1}')
})

test('an answer without reasoning is sent back as text and calls', async () => {
  const provider = await start([{ say: 'ok' }])
  const messages: ModelMessage[] = [
    user('Hello'),
    { role: 'assistant', text: 'Looking.', calls: [{ id: 'c1', name: 'lookup', arguments: {} }] },
    { role: 'tool', callId: 'c1', name: 'lookup', content: '1', isError: false },
  ]
  await complete(provider, requestWith({ model, messages }))
  expect(fake.requests[0]?.body.input.slice(1)).toEqual([
    { role: 'assistant', content: 'Looking.' },
    { type: 'function_call', call_id: 'c1', name: 'lookup', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: '1' },
  ])
})

const REFUSED = {
  status: 400,
  error: { param: 'include', message: 'Encrypted content is not supported with this model.' },
}

test('a model without reasoning is asked again without it, and from then on never with it', async () => {
  const provider = await start([REFUSED, { say: 'one' }, { say: 'two' }])
  expect((await complete(provider, requestWith({ model }))).completion.text).toBe('one')
  expect((await complete(provider, requestWith({ model }))).completion.text).toBe('two')
  expect(fake.requests.map(({ body }) => 'include' in body)).toEqual([true, false, false])
})

test('a model that goes on refusing is asked twice at most', async () => {
  const provider = await start([REFUSED])
  await expect(complete(provider, requestWith({ model }))).rejects.toMatchObject({ status: 400, retryable: false })
  expect(fake.requests).toHaveLength(2)
})

test('reasoning that another organization encrypted is left out', async () => {
  const provider = await start([
    { status: 400, error: { code: 'invalid_encrypted_content', message: 'could not be verified' } },
    { say: 'ok' },
  ])
  const items = [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'theirs' }]
  const messages: ModelMessage[] = [user('Hello'), { role: 'assistant', text: 'Hm.', calls: [], hidden: { items } }]
  expect((await complete(provider, requestWith({ model, messages }))).completion.text).toBe('ok')
  expect(fake.requests.map(({ body }) => body.input[1])).toEqual([items[0], { role: 'assistant', content: 'Hm.' }])
})

test.each([
  ['max_output_tokens', 'length'],
  ['content_filter', 'content_filter'],
  ['refusal', 'content_filter'],
])('an answer that ends with %s is %s', async (finish, finishReason) => {
  const provider = await start([{ say: 'Half', finish }])
  expect((await complete(provider, requestWith({ model }))).completion).toMatchObject({ text: 'Half', finishReason })
})

test('parameters, reasoning and options are passed on, options last and the script never', async () => {
  const provider = await start([{ say: 'ok' }])
  const parameters = { temperature: 0.5, max_output_tokens: 100 }
  const provider_options = { script: 'x.yaml', temperature: 0.1, service_tier: 'flex' }
  await complete(
    provider,
    requestWith({ model: { ...model, parameters, reasoning: { effort: 'low' }, provider_options } }),
  )
  expect(fake.requests[0]?.body).toMatchObject({
    temperature: 0.1,
    max_output_tokens: 100,
    reasoning: { effort: 'low' },
    service_tier: 'flex',
  })
  expect(fake.requests[0]?.body).not.toHaveProperty('script')
})

test('stop sequences, which the Responses API does not know, take chat completions', async () => {
  const provider = await start([{ say: 'ok' }])
  await complete(provider, requestWith({ model: { ...model, parameters: { stop_sequences: ['END'] } } }))
  expect([fake.requests[0]?.path, fake.requests[0]?.body.stop]).toEqual(['/v1/chat/completions', ['END']])
})

test.each([
  ['a closed schema is enforced', closed, true],
  ['an open schema is only told', { type: 'object', properties: { a: { type: 'number' } } }, false],
  [
    'a keyword outside the subset is only told',
    { ...closed, properties: { order: { type: 'string', maxLength: 9 } } },
    false,
  ],
])('structured output: %s', async (_, outputSchema, strict) => {
  const provider = await start([{ say: '{"a":1}' }])
  await complete(provider, requestWith({ model, outputSchema }))
  expect(fake.requests[0]?.body.text).toEqual({
    format: { type: 'json_schema', name: 'output', schema: outputSchema, strict },
  })
})

test('images and PDFs are parts of the message', async () => {
  const provider = await start([{ say: 'ok' }])
  const bytes = new Uint8Array([1, 2, 3])
  const parts = [
    { type: 'text', text: 'Look' },
    { type: 'file', filename: 'a.png', mediaType: 'image/png', bytes },
    { type: 'file', filename: 'b.pdf', mediaType: 'application/pdf', bytes },
  ] as const
  await complete(provider, requestWith({ model, messages: [{ role: 'user', parts }] }))
  expect(fake.requests[0]?.body.input[0].content).toEqual([
    { type: 'input_text', text: 'Look' },
    { type: 'input_image', image_url: 'data:image/png;base64,AQID', detail: 'auto' },
    { type: 'input_file', filename: 'b.pdf', file_data: 'data:application/pdf;base64,AQID' },
  ])
})

describe('failures', () => {
  test.each([
    [
      { status: 401, error: { message: `Incorrect API key provided: ${KEY}.` } },
      'The model provider answered 401: Incorrect API key provided: ***. Check the key in OPENAI_KEY.',
      false,
    ],
    [
      { status: 404, error: { code: 'model_not_found', message: 'The model `gpt-tset` does not exist' } },
      'The model provider answered 404: The model `gpt-tset` does not exist. Check model.name.',
      false,
    ],
    [
      { status: 429, error: { code: 'insufficient_quota', message: 'You exceeded your current quota.' } },
      "The model provider answered 429: You exceeded your current quota. The account's quota is used up: raise it at the vendor.",
      true,
    ],
    [{ status: 429, error: { message: 'Slow down' } }, 'The model provider answered 429: Slow down', true],
    [
      { say: 'Half', error: { code: 'server_error', message: 'Overloaded' } },
      'The model provider broke off: Overloaded',
      true,
    ],
    [
      { say: 'Half', error: { code: 'invalid_prompt', message: `No, ${KEY}` } },
      'The model provider broke off: No, ***',
      false,
    ],
    [{ say: 'Half', cut: true }, 'The connection to the model provider failed: The connection was closed early.', true],
    [{ say: 'Half', finish: '' }, 'The model provider closed the stream before the answer was complete.', true],
    [
      { say: 'x', finish: 'moonlight' },
      'The model provider answered in a form that its API does not have: response.incomplete_details.reason is "moonlight", which is not a known reason to end an answer',
      false,
    ],
    [
      { raw: '<html>Welcome</html>' },
      'The model provider answered with something other than a completion. Check base_url.',
      true,
    ],
    [
      { raw: 'data: null\n\n', headers: { 'content-type': 'text/event-stream' } },
      'The model provider answered with something other than a completion. Check base_url.',
      true,
    ],
    [
      { raw: 'data: {"type": oops}\n\n', headers: { 'content-type': 'text/event-stream' } },
      String.raw`The model provider answered in a form that its API does not have: event 1 is no JSON: "{\"type\": oops}"`,
      false,
    ],
    [
      { status: 502, error: { message: 'x'.repeat(5000) } },
      `${'The model provider answered 502: '.padEnd(497, 'x')}...`,
      true,
    ],
  ])('%j', async (answer, message, retryable) => {
    const provider = await start([answer])
    const error = (await complete(provider, requestWith({ model })).catch((each: unknown) => each)) as ProviderError
    expect([error.name, error.message, error.retryable]).toEqual(['ProviderError', message, retryable])
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
