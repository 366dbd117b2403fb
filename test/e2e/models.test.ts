import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFakeAnthropic } from '../fakes/anthropic.ts'
import type { FakeAnswer, FakeModel, FakeScript } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { serveHere, svcJson, writeProject, type Project, type RunningServer } from './binary.ts'
import { caller, type Caller, type Json } from './caller.ts'

const SECRET = 'sk-a-secret-of-the-operator'

/** Models named after what they do, so that one server plays all of them. */
const plays: Readonly<Record<string, readonly FakeAnswer[]>> = {
  lookup: [
    {
      say: 'Let me look.',
      calls: [{ id: 'c1', name: 'stock', arguments: { sku: 'A-1' } }],
      usage: { input: 20, output: 7 },
    },
    { say: 'There are 3.', usage: { input: 40, output: 4 } },
  ],
  think: [
    {
      thinking: { text: 'Hm.', signature: 'gAAA-opaque' },
      say: 'Let me look.',
      calls: [{ id: 'c1', name: 'stock', arguments: { sku: 'A-1' } }],
      usage: { input: 20, output: 7, cached: 15, reasoning: 4 },
    },
    { say: 'There are 3.', usage: { input: 40, output: 4 } },
  ],
  overload: [{ status: 529, error: { type: 'overloaded_error', message: 'Overloaded' } }],
  stand: [{ say: 'I stand in.' }],
  twice: [
    { calls: [{ id: 'call_0', name: 'stock', arguments: { sku: 'A-1' } }] },
    { calls: [{ id: 'call_0', name: 'stock', arguments: { sku: 'B-2' } }] },
    { say: 'Both.' },
  ],
  busy: [{ status: 429, headers: { 'retry-after': '0' }, error: { message: 'slow down' } }, { say: 'Now.' }],
  // Down for as long as three attempts, asks for a moment, and is back.
  down: [
    ...Array.from({ length: 2 }, () => ({ status: 503, error: { message: 'No server is ready.' } })),
    { status: 503, headers: { 'retry-after': '1' }, error: { message: 'No server is ready.' } },
    { say: 'Back.' },
  ],
  refused: [{ status: 401, error: { message: `no such key ${SECRET}` } }],
  see: [{ say: 'A barn.' }],
  structured: [{ say: '{"count": "three"}' }, { say: '{"count": 3}' }],
}

let project: Project
let server: RunningServer
let fakes: Readonly<Record<'openai' | 'anthropic', FakeModel>>

/** Requests that were made for one model name, in order. */
const requestsOf = (model: string): FakeModel['requests'] =>
  [...fakes.openai.requests, ...fakes.anthropic.requests].filter(({ body }) => body.model === model)

const script: FakeScript = ({ body }) => {
  const answers = plays[(body.model as string).split('-')[0]!]!
  const number = requestsOf(body.model).length
  return answers[number - 1] ?? answers.at(-1)!
}

const agent = (name: string, provider: string, play: string, more = ''): string => `
apiVersion: svc/v1
kind: Agent
metadata: { name: ${name}, namespace: acme, version: 1.0.0 }
secrets: { model-key: { fromEnv: THE_MODEL_KEY } }
${more}
spec:
  purpose: Counts the stock.
  instructions: { text: You count the stock. }
  model:
    provider: ${provider}
    name: ${play}-${name}
    secret: model-key
    parameters: { temperature: 0.5, max_output_tokens: 100 }
    ${provider.endsWith('compatible') ? `base_url: ${fakes.openai.url}/v1` : ''}
  tools: [{ ref: 'acme.stock@^1' }]
  limits: { max_loop_iterations: 5 }
`

const STRUCTURED = `output:
  format: json
  strict: true
  schema:
    inline: { type: object, required: [count], properties: { count: { type: integer } }, additionalProperties: false }`

const agents: readonly (readonly [string, string, string, string?])[] = [
  ['compatible', 'openai-compatible', 'lookup'],
  ['neutral', 'vendor_b-compatible', 'lookup'],
  ['openai', 'openai', 'think'],
  ['anthropic', 'anthropic', 'lookup'],
  ['vendor-a', 'vendor_a', 'lookup'],
  ['repeating', 'openai-compatible', 'twice'],
  ['busy-openai', 'openai', 'busy'],
  ['busy-anthropic', 'anthropic', 'busy'],
  ['down-openai', 'openai', 'down'],
  ['down-anthropic', 'anthropic', 'down'],
  ['refused-openai', 'openai', 'refused'],
  ['refused-anthropic', 'anthropic', 'refused'],
  ['see-openai', 'openai-compatible', 'see'],
  ['see-anthropic', 'anthropic', 'see'],
  ['structured', 'openai', 'structured', STRUCTURED],
]

const at = () => ['--data', project.data]

beforeAll(async () => {
  fakes = { openai: await startFakeOpenai(script), anthropic: await startFakeAnthropic(script) }
  project = writeProject({
    'svc.config.yaml': 'workspace: models\ntools:\n  acme.stock:\n    mock: [{ result: { count: 3 } }]\n',
    'tools/stock.yaml': `
apiVersion: svc/v1
kind: Tool
metadata: { name: stock, namespace: acme, version: 1.0.0 }
spec:
  description: Counts what is there.
  side_effect_class: read_only
  input_schema: { inline: { type: object, required: [sku], properties: { sku: { type: string } } } }
`,
    'agents/falling.yaml': agent('falling', 'anthropic', 'overload').replace(
      'version: 1.0.0 }',
      "version: 1.0.0, annotations: { svc/model-fallback: '[{provider: openai, name: stand-in, secret: model-key}]' } }",
    ),
    ...Object.fromEntries(agents.map(([name, ...rest]) => [`agents/${name}.yaml`, agent(name, ...rest)])),
  })
  server = await serveHere(at(), {
    cwd: project.directory,
    env: {
      THE_MODEL_KEY: SECRET,
      OPENAI_BASE_URL: `${fakes.openai.url}/v1`,
      ANTHROPIC_BASE_URL: fakes.anthropic.url,
    },
  })
})
afterAll(async () => {
  await server.stop('SIGTERM')
  await fakes.openai.close()
  await fakes.anthropic.close()
  project.remove()
})

/** Publishes the agent, with a key for it. */
async function open(name: string): Promise<{ api: Caller; agentId: string; secret: string }> {
  await svcJson(['publish', `agents/${name}.yaml`, '--deploy', ...at()], { cwd: project.directory })
  const { agentId } = await svcJson<Json>([
    'triggers',
    'create',
    `acme.${name}`,
    '--type',
    'api',
    '--name',
    'api',
    ...at(),
  ])
  const { secret } = await svcJson<Json>([
    'keys',
    'create',
    '--agent',
    `acme.${name}`,
    '--trigger',
    'api',
    '--allow-uploads',
    ...at(),
  ])
  return { api: caller(server.url, secret), agentId, secret }
}

/** Publishes the agent and runs it once. */
async function run(name: string): Promise<{ status: Json; items: Json[]; stream: string }> {
  const { api, agentId, secret } = await open(name)
  const runId = await api.start(agentId, { message: 'How many?' })
  const stream = await fetch(`${server.url}/v1/runs/${runId}/stream`, { headers: { 'X-API-Key': secret } })
  const text = await stream.text()
  return { status: await api.settled(runId), items: await api.items(runId), stream: text }
}

describe.each([
  ['compatible', 'base_url of the model'],
  ['neutral', 'base_url of the model, in the neutral spelling'],
])('%s, through %s', (name) => {
  test('streams, calls its tool, hears the result and completes', async () => {
    const { status, items, stream } = await run(name)
    expect(status).toMatchObject({ status: 'Completed', output: 'There are 3.', totalTokensUsed: 71 })
    const [first, second] = requestsOf(`lookup-${name}`)
    expect(first).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${SECRET}` },
      body: {
        stream: true,
        temperature: 0.5,
        messages: [
          { role: 'system', content: 'You count the stock.' },
          { role: 'user', content: 'How many?' },
        ],
        tools: [
          {
            type: 'function',
            function: { name: 'stock', description: 'Counts what is there.', parameters: { required: ['sku'] } },
          },
        ],
      },
    })
    expect(second!.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'stock', arguments: '{"sku":"A-1"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"count":3}' },
    ])
    expect(items.map(({ type }) => type)).toEqual([
      'UserMessage',
      'Reasoning',
      'PolicyDecision',
      'ToolCall',
      'ToolResult',
      'Reasoning',
      'Output',
      'RunCompleted',
      'SessionCompleted',
    ])
    expect(stream).toContain('engine.session.completed')
    expect(stream + JSON.stringify(items)).not.toContain(SECRET)
  })
})

test('openai, through OPENAI_BASE_URL: the reasoning of a completion comes back after the result of its call', async () => {
  const { status, items, stream } = await run('openai')
  expect(status).toMatchObject({ status: 'Completed', output: 'There are 3.', totalTokensUsed: 71 })
  const [first, second] = requestsOf('think-openai')
  expect(first).toMatchObject({
    path: '/v1/responses',
    headers: { authorization: `Bearer ${SECRET}` },
    body: {
      stream: true,
      store: false,
      temperature: 0.5,
      max_output_tokens: 100,
      instructions: 'You count the stock.',
    },
  })
  expect(second!.body.input.slice(1)).toMatchObject([
    { type: 'reasoning', encrypted_content: 'gAAA-opaque' },
    { type: 'message', content: [{ text: 'Let me look.' }] },
    { type: 'function_call', call_id: 'c1', name: 'stock', arguments: '{"sku":"A-1"}' },
    { type: 'function_call_output', call_id: 'c1', output: '{"count":3}' },
  ])
  expect(items.find(({ type }) => type === 'Reasoning')!.content.usage).toEqual({
    input_tokens: 20,
    output_tokens: 7,
    cached_input_tokens: 15,
    reasoning_tokens: 4,
  })
  // What only the vendor can read leaves the process for the vendor alone.
  expect(stream + JSON.stringify(items)).not.toContain('gAAA-opaque')
  expect(stream + JSON.stringify(items)).not.toContain(SECRET)
})

describe.each([
  ['anthropic', 'anthropic'],
  ['vendor-a', 'vendor_a'],
])('%s, as provider %s', (name) => {
  test('streams, calls its tool, hears the result and completes', async () => {
    const { status, items, stream } = await run(name)
    expect(status).toMatchObject({ status: 'Completed', output: 'There are 3.', totalTokensUsed: 71 })
    const [first, second] = requestsOf(`lookup-${name}`)
    expect(first).toMatchObject({
      path: expect.stringMatching(/^\/v1\/messages/),
      headers: { authorization: `Bearer ${SECRET}` },
      body: {
        stream: true,
        temperature: 0.5,
        max_tokens: 100,
        messages: [{ role: 'user' }],
        tools: [{ name: 'stock', description: 'Counts what is there.', input_schema: { required: ['sku'] } }],
      },
    })
    expect(JSON.stringify(first!.body.system)).toContain('You count the stock.')
    const [assistant, user] = second!.body.messages.slice(1)
    expect(assistant).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'c1', name: 'stock', input: { sku: 'A-1' } },
      ],
    })
    expect(user).toMatchObject({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] })
    expect(JSON.stringify(user)).toContain('count')
    expect(stream + JSON.stringify(items)).not.toContain(SECRET)
  })
})

test('a server that gives every call the same id is understood all the same', async () => {
  const { status, items } = await run('repeating')
  expect(status).toMatchObject({ status: 'Completed', output: 'Both.' })
  const last = requestsOf('twice-repeating').at(-1)!.body.messages
  const ids = last.filter(({ role }: Json) => role === 'tool').map(({ tool_call_id: id }: Json) => id)
  expect(new Set(ids).size).toBe(2)
  expect(items.filter(({ type }) => type === 'ToolCall').map(({ content }) => content.arguments)).toEqual([
    { sku: 'A-1' },
    { sku: 'B-2' },
  ])
})

test.each(['busy-openai', 'busy-anthropic'])('%s: a model that is busy is asked again', async (name) => {
  const { status, items } = await run(name)
  expect(status).toMatchObject({ status: 'Completed', output: 'Now.' })
  expect(items.filter(({ type }) => type === 'Reasoning').map(({ error }) => error === null)).toEqual([false, true])
})

test('a model that is overloaded is followed by the one that the agent names for it', async () => {
  const { status, items } = await run('falling')
  expect(status).toMatchObject({ status: 'Completed', output: 'I stand in.' })
  const [reasoning, ...more] = items.filter(({ type }) => type === 'Reasoning')
  expect(more).toEqual([])
  expect(reasoning!.content).toMatchObject({
    model: 'stand-in',
    fallback_after: [{ model: 'overload-falling', error: 'The model provider answered 529: Overloaded' }],
  })
})

test.each(['down-openai', 'down-anthropic'])('%s: an outage holds the run, which goes on by itself', async (name) => {
  const { status, items, stream } = await run(name)
  expect(status).toMatchObject({ status: 'Completed', output: 'Back.' })
  expect(items.map(({ type, error }) => [type, error])).toEqual([
    ['UserMessage', null],
    ...Array.from({ length: 3 }, () => ['Reasoning', 'The model provider answered 503: No server is ready.']),
    ['Reasoning', null],
    ['Output', null],
    ['RunCompleted', null],
    ['SessionCompleted', null],
  ])
  const paused = stream.split('\n').find((line) => line.startsWith('data:') && line.includes('engine.run.paused'))
  expect(JSON.parse(paused!.slice('data:'.length))).toMatchObject({
    data: { status: 'Running', hold: { reason: 'provider_unreachable' } },
  })
})

test.each(['refused-openai', 'refused-anthropic'])(
  "%s: a refusal fails the run with the provider's words, without the key",
  async (name) => {
    const { status, items } = await run(name)
    expect(status).toMatchObject({ status: 'Failed', output: null, errorCode: 'model_error' })
    expect(status.error).toContain('no such key')
    expect(JSON.stringify([status, items])).not.toContain(SECRET)
    expect(server.stderr()).not.toContain(SECRET)
    expect(requestsOf(`refused-${name}`)).toHaveLength(1)
  },
)

test('an output that breaks its schema goes back to the model, and the valid one is JSON', async () => {
  const { status, items } = await run('structured')
  expect(status).toMatchObject({ status: 'Completed', output: { count: 3 } })
  const [first, second] = requestsOf('structured-structured')
  expect(first!.body.text.format).toMatchObject({ type: 'json_schema', strict: true, schema: { required: ['count'] } })
  expect(JSON.stringify(second!.body.input.at(-1).content)).toContain('/count')
  expect(
    items.filter(({ type }) => type === 'OutputValidation').map(({ content }) => [content.valid, content.action]),
  ).toContainEqual([false, 'retry'])
})

describe('an image and a document of the input', () => {
  const IMAGE = 'image bytes'
  const begin = async (name: string): Promise<Json> => {
    const { api, agentId } = await open(name)
    const upload = async (filename: string, mediaType: string): Promise<Json> => {
      const asked = { filename, mediaType, maxContentLength: 100 }
      const { objectKey, uploadUrl, requiredHeaders } = (await api.post('/v1/file-library/presign', asked)).body
      await fetch(uploadUrl, { method: 'PUT', headers: requiredHeaders, body: IMAGE })
      const { filename: leaf } = (await api.post('/v1/file-library/finalize', { objectKey, maxContentLength: 100 }))
        .body
      return { svcFile: true, filename: leaf, mediaType }
    }
    const input = { photo: await upload('barn.png', 'image/png'), pages: [await upload('deed.pdf', 'application/pdf')] }
    expect((await api.settled(await api.start(agentId, input))).output).toBe('A barn.')
    return requestsOf(`see-${name}`)[0]!.body.messages.at(-1)
  }
  const data = Buffer.from(IMAGE).toString('base64')

  test('go to an OpenAI-compatible model as its own parts', async () => {
    const { role, content } = await begin('see-openai')
    expect(role).toBe('user')
    expect(content).toContainEqual({
      type: 'image_url',
      image_url: expect.objectContaining({ url: `data:image/png;base64,${data}` }),
    })
    expect(content.find(({ type }: Json) => type === 'file').file.file_data).toBe(`data:application/pdf;base64,${data}`)
  })

  test('go to an Anthropic model as its own parts', async () => {
    const { content } = await begin('see-anthropic')
    expect(content).toContainEqual(
      expect.objectContaining({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }),
    )
    expect(content).toContainEqual(
      expect.objectContaining({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }),
    )
  })
})
