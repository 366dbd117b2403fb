/** Deployed agents behind OpenAI's interfaces, called by the official client. */
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { AgentSnapshot } from '../../../src/spec/snapshot.ts'
import type { Conversation } from '../../../src/spec/api.ts'
import { DESK, ask, closing, publishDesk, running, options, scripted, taskOf, tool } from '../running.ts'
import { openServer } from '../../../src/server/open.ts'

const DOORS = { doors: { openai: true } }
const CHAT = { inputContract: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } } }
const ECHO: AgentSnapshot = scripted([{ say: 'You said: ${input.message}' }], [], CHAT)

async function open(snapshot: AgentSnapshot = ECHO, trigger: object = {}) {
  const desk = await running({ snapshot, config: { ...options().config, ...DOORS }, trigger })
  const retries: string[] = []
  const client = new OpenAI({
    baseURL: `${desk.server.url}/compat/openai/v1`,
    apiKey: desk.secret,
    fetch: async (url, init) => {
      retries.push(new Headers(init?.headers).get('x-stainless-retry-count') ?? '')
      return fetch(url, init)
    },
  })
  const say = (content: string, earlier: readonly OpenAI.ChatCompletionMessageParam[] = [], more: object = {}) =>
    client.chat.completions.create({
      model: DESK,
      messages: [...earlier, { role: 'user', content }],
      ...more,
    }) as Promise<OpenAI.ChatCompletion>
  const decide = async (runId: string, approved: boolean) => {
    const userTaskId = taskOf(await desk.get<Conversation>(`/v1/runs/${runId}/conversation`))
    await desk.post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved })
    await desk.until(runId, 'engine.session.completed')
  }
  return { ...desk, client, say, decide, retries }
}

const answerOf = ({ choices }: OpenAI.ChatCompletion) => choices[0]!.message
const runOf = (answer: OpenAI.ChatCompletion): string => answer.id.replace('chatcmpl-', '')
const APPROVES = scripted(
  [
    { say: 'A refund is due.', call: { tool: 'refunds', arguments: { amount: 180 } } },
    { say: 'Refunded ${results.refunds.refunded}.' },
  ],
  [tool('acme.refunds', { sideEffectClass: 'irreversible_action' })],
  CHAT,
)

describe('models', () => {
  test('are the agents that the key may start', async () => {
    const { client } = await open()
    const model = { id: DESK, object: 'model', created: expect.any(Number) as number, owned_by: 'svc' }
    expect((await client.models.list()).data).toEqual([model])
    expect(await client.models.retrieve(DESK)).toEqual(model)
    await expect(client.models.retrieve('acme.other')).rejects.toMatchObject({ status: 404, code: 'not_found' })
  })

  test('are not there without a key, nor where the door was not opened', async () => {
    const { server } = await open()
    const stranger = new OpenAI({ baseURL: `${server.url}/compat/openai/v1`, apiKey: 'svc_none' })
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' })
    const closed = await running({ snapshot: ECHO })
    const client = new OpenAI({ baseURL: `${closed.server.url}/compat/openai/v1`, apiKey: closed.secret })
    await expect(client.models.list()).rejects.toMatchObject({ status: 404 })
  })
})

describe('a chat', () => {
  test('is answered with the output of a run and the tokens that it used', async () => {
    const { say, get } = await open()
    const answer = await say('hello')
    const run = await get<{ totalTokensUsed: number; status: string }>(`/v1/runs/${runOf(answer)}`)
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: DESK,
      choices: [{ message: { role: 'assistant', content: 'You said: hello' }, finish_reason: 'stop' }],
      usage: { total_tokens: run.totalTokensUsed },
    })
    expect(answer.usage!.prompt_tokens + answer.usage!.completion_tokens).toBe(run.totalTokensUsed)
  })

  test('is streamed: its pieces are the answer, and the last one the tokens', async () => {
    const { client } = await open()
    const stream = await client.chat.completions.create({
      model: DESK,
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = []
    for await (const each of stream) chunks.push(each)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('You said: hello')
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) as number } })
  })

  test('that the client names is one session', async () => {
    const { say, operator } = await open()
    const named = { metadata: { session: 'customer 7' } }
    await say('one', [], named)
    await say('two', [], named)
    await say('three', [], { metadata: { session: 'customer 8' } })
    const { items } = await operator('GET /runs')
    const sessions = (items as readonly { sessionId: string }[]).map(({ sessionId }) => sessionId)
    expect([sessions.length, new Set(sessions).size]).toEqual([3, 2])
  })

  test('that is not named goes on in one session from its second message, which has the transcript', async () => {
    const { say, get } = await open()
    const history: OpenAI.ChatCompletionMessageParam[] = []
    const runs = []
    for (const text of ['one', 'two', 'three']) {
      const answer = await say(text, history)
      history.push({ role: 'user', content: text }, answerOf(answer))
      runs.push(await get<{ sessionId: string; input?: unknown }>(`/v1/runs/${runOf(answer)}`))
    }
    expect(answerOf(await say('four', history)).content).toBe('You said: four')
    expect(history[3]).toMatchObject({
      content: 'You said: The conversation so far:\nUser: one\nAssistant: You said: one\n\ntwo',
    })
    expect(runs[2]!.sessionId).toBe(runs[1]!.sessionId)
    expect(runs[1]!.sessionId).not.toBe(runs[0]!.sessionId)
  })

  test('two chats that begin with the same words do not continue each other', async () => {
    const { say, get } = await open()
    const first = answerOf(await say('hi'))
    const begun: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'hi' }, first]
    const one = await say('mine', begun)
    await say('mine, too', [...begun, { role: 'user', content: 'mine' }, answerOf(one)])
    const other = await say('yours', begun)
    const sessionOf = async (answer: OpenAI.ChatCompletion) =>
      (await get<{ sessionId: string }>(`/v1/runs/${runOf(answer)}`)).sessionId
    expect(await sessionOf(other)).not.toBe(await sessionOf(one))
  })

  test('says that a person must decide, starts nothing meanwhile, and then tells what became of it', async () => {
    const { say, decide, operator } = await open(APPROVES)
    const waiting = await say('refund it')
    const text = answerOf(waiting).content!
    expect(text).toMatch(/^This waits for a person.*\n- approval: .*\n(?:.*\n)?Ask again then\. \(run [0-9a-f-]{36}\)$/)
    const history: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'refund it' }, answerOf(waiting)]
    const still = await say('and now?', history)
    expect([answerOf(still).content, still.usage!.total_tokens]).toEqual([text, 0])
    await decide(runOf(waiting), true)
    expect(answerOf(await say('and now?', history)).content).toBe('Refunded 180.')
    expect(await operator('GET /runs')).toMatchObject({ total: 1 })
  })

  test('answers the question of an agent with the next message', async () => {
    const asks = scripted(
      [{ call: { tool: 'ask_user', arguments: { message: 'Which order?' } } }, { say: 'Looking at it.' }],
      [tool('svc.ask_user', { builtin: true })],
      CHAT,
    )
    const { say, operator } = await open(asks)
    const question = answerOf(await say('it broke'))
    expect(question.content).toMatch(/^Which order\?\n\n\(run /)
    const answer = await say('A-1042', [{ role: 'user', content: 'it broke' }, question])
    expect(answerOf(answer).content).toBe('Looking at it.')
    expect(await operator('GET /runs')).toMatchObject({ total: 1 })
  })

  test('takes the JSON of an object where the agent takes no message, and says what it takes', async () => {
    const pays = scripted([{ say: { paid: '${input.amount}' } }], [], {
      output: { format: 'json', strict: false, on_invalid: 'fail' },
      inputContract: {
        type: 'object',
        required: ['order', 'amount'],
        properties: { order: { type: 'string' }, amount: { type: 'number' } },
      },
    })
    const { say } = await open(pays)
    expect(answerOf(await say('{"order":"A-1","amount":5}')).content).toBe('{"paid":5}')
    await expect(say('pay me')).rejects.toMatchObject({
      status: 400,
      message: `400 ${DESK} takes no plain message. Send its input as the JSON of an object, with order, amount.`,
    })
  })

  test('whose run fails is an error that the client does not ask again', async () => {
    const { say, retries, operator } = await open(
      scripted([{ call: { tool: 'none', arguments: {} } }], [], { ...CHAT, limits: { max_loop_iterations: 1 } }),
    )
    await expect(say('hello')).rejects.toMatchObject({ status: 422, type: 'run_failed' })
    expect(retries).toEqual(['0'])
    expect(await operator('GET /runs')).toMatchObject({ total: 1 })
  })

  test.each([
    ['tools of the client', { tools: [{ type: 'function', function: { name: 'x' } }] }, '/tools must be empty'],
    ['several answers', { n: 2 }, '/n must be 1'],
    [
      'a picture',
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      '/messages/0/content/0 must be text',
    ],
    [
      'a last message that is not of the user',
      { messages: [{ role: 'assistant', content: 'x' }] },
      '/messages must end',
    ],
    ['a name that is too long', { metadata: { session: 'x'.repeat(201) } }, '/metadata/session must be text'],
    ['an agent that is not there', { model: 'acme.none' }, 'No such agent'],
  ])('refuses %s, and names the place', async (_, more, message) => {
    const { say, operator } = await open()
    await expect(say('hello', [], more)).rejects.toThrow(message)
    expect(await operator('GET /runs')).toMatchObject({ total: 0 })
  })

  test('a trigger that hides its timeline shows the answer', async () => {
    const { client } = await open(ECHO, { exposeTimeline: false })
    const stream = await client.chat.completions.create({
      model: DESK,
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
    })
    let text = ''
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    expect(text).toBe('You said: hello')
  })
})

describe('a response', () => {
  test('is a run, continues the one that it names, and can be read again', async () => {
    const { client, get } = await open()
    const first = await client.responses.create({ model: DESK, input: 'one' })
    expect(first).toMatchObject({ status: 'completed', output_text: 'You said: one', error: null })
    const stream = await client.responses.create({
      model: DESK,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'two' }] }],
      previous_response_id: first.id,
      stream: true,
    })
    const types = []
    let last: OpenAI.Responses.Response | undefined
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.completed') last = event.response
    }
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
    expect(types).toContain('response.output_text.delta')
    expect(last!.output).toMatchObject([{ type: 'message', content: [{ text: 'You said: two' }] }])
    const sessions = [first.id, last!.id].map((id) => get<{ sessionId: string }>(`/v1/runs/${id.replace('resp_', '')}`))
    const [one, two] = await Promise.all(sessions)
    expect(two!.sessionId).toBe(one!.sessionId)
    expect(await client.responses.retrieve(first.id)).toMatchObject({ status: 'completed', usage: first.usage })
  })

  test('in the background is asked for again, and can be cancelled', async () => {
    const { client, decide, until } = await open(APPROVES)
    const waiting = await client.responses.create({ model: DESK, input: 'refund it', background: true })
    expect(waiting.status).toBe('in_progress')
    const runId = waiting.id.replace('resp_', '')
    await until(runId, 'engine.run.paused')
    await decide(runId, true)
    expect(await client.responses.retrieve(waiting.id)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ text: 'Refunded 180.' }] }],
    })
    const other = await client.responses.create({ model: DESK, input: 'refund it again', background: true })
    expect(await client.responses.cancel(other.id)).toMatchObject({ status: 'cancelled', output: [] })
  })

  test('of somebody else is not there', async () => {
    const { client } = await open()
    const strange = { model: DESK, input: 'x', previous_response_id: 'resp_01a22602-59e3-7000-9416-1758673c6fb6' }
    await expect(client.responses.create(strange)).rejects.toMatchObject({ status: 404 })
  })
})

test('agents of other triggers are named to no key', async () => {
  const server = await openServer({ ...options(), config: { ...options().config, ...DOORS } })
  closing(() => server.close())
  const { secret } = await publishDesk(server.operator, {}, ECHO)
  const other = { ...ECHO, id: 'acme.other', name: 'other' }
  const bundle = { root: 'acme.other', agents: [other], documents: [], closureDigest: 'sha256:' + '0'.repeat(64) }
  await ask(server.operator, 'POST /publish', { bundle, deploy: true }).catch(() => {})
  const client = new OpenAI({ baseURL: `${server.url}/compat/openai/v1`, apiKey: secret })
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual([DESK])
})
