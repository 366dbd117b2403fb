/** Questions of MCP servers to a person: what is passed on, what each revision of the protocol gets back, and what is refused. */
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { answerFormOf, type ServerAnswer, type ServerQuestion } from '../../src/spec/server-question.ts'
import { checkValue } from '../../src/tools/check/check.ts'
import { toCallOutcome } from '../../src/tools/mcp/mcp-outcome.ts'
import { QuestionProblem, readQuestion } from '../../src/tools/mcp/mcp-question.ts'
import type { Toolbox, ToolInvocation } from '../../src/tools/tool.ts'
import { startFakeMcp, type Era, type FakeMcp, type FakeTool } from '../fakes/mcp.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

let fake: FakeMcp | undefined
let toolbox: Toolbox
beforeEach(() => void (toolbox = toolboxWith({ tools: { 'acme.*': { mock: [], timeout: '10s' } } })))
afterEach(async () => {
  await toolbox.close()
  await fake?.close()
})

const start = async (era: Era, answer: FakeTool['answer']): Promise<void> => {
  fake = await startFakeMcp(era, [{ name: 'book', answer }])
}
const call = async (more: Partial<ToolInvocation> = {}): Promise<object> => {
  const tool = toolNamed('acme.book', { mcp: { server: 'shop', tool: 'book' } })
  const agent = agentWith({ mcpServers: [{ name: 'shop', url: fake!.url }] })
  const invocation = invocationOf(tool, { room: 7 }, { notAfter: Date.now() + 10_000, ...more })
  return timeless(await toolbox.route(agent, tool)!.invoke(invocation, new AbortController().signal))
}
const text = (...texts: unknown[]): object => ({
  content: texts.map((each) => ({ type: 'text', text: typeof each === 'string' ? each : JSON.stringify(each) })),
})

const SEATS = {
  message: 'How many seats?',
  requestedSchema: { type: 'object', properties: { seats: { type: 'integer', minimum: 1 } }, required: ['seats'] },
}
const ASKED: ServerQuestion = {
  name: '1',
  message: 'How many seats?',
  schema: {
    type: 'object',
    properties: { seats: { type: 'integer', minimum: 1 } },
    required: ['seats'],
    additionalProperties: false,
  },
}

test('a server of the newest revision asks in place of an answer, and gets the call again with answers and state', async () => {
  await start('modern', (_, { responses, state }) =>
    responses
      ? text({ responses, state })
      : {
          resultType: 'input_required',
          inputRequests: {
            seats: { method: 'elicitation/create', params: { mode: 'form', ...SEATS } },
            login: {
              method: 'elicitation/create',
              params: { mode: 'url', message: 'Sign in.', url: 'https://a.example/x' },
            },
          },
          requestState: 'opaque',
        },
  )
  expect(await call()).toEqual({
    at: 'asked',
    questions: [
      { ...ASKED, name: 'seats' },
      { name: 'login', message: 'Sign in.', url: 'https://a.example/x' },
    ],
    state: 'opaque',
  })
  const answers = [
    { name: 'seats', action: 'accept', content: { seats: 3 } },
    { name: 'login', action: 'decline' },
  ] as const
  expect(await call({ attempt: 2, input: { answers, state: 'opaque' } })).toEqual({
    at: 'returned',
    isError: false,
    result: {
      responses: { seats: { action: 'accept', content: { seats: 3 } }, login: { action: 'decline' } },
      state: 'opaque',
    },
  })
})

test('a server of an earlier revision asks while its call is open, and gets the answer there', async () => {
  await start('sessions', async (_, { ask }) => text(await ask!({ mode: 'form', ...SEATS })))
  const asked: ServerQuestion[] = []
  const onQuestion = (question: ServerQuestion): Promise<ServerAnswer> => {
    asked.push(question)
    return Promise.resolve({ action: 'accept', content: { seats: 2 } })
  }
  expect(await call({ onQuestion })).toEqual({
    at: 'returned',
    isError: false,
    result: { action: 'accept', content: { seats: 2 } },
  })
  expect(asked).toEqual([ASKED])
})

test('of several calls that are open at once, each gets its own answer', async () => {
  await start('sessions', async (_, { ask }) => text(await ask!({ mode: 'form', ...SEATS })))
  const asking: string[] = []
  const called = ['a', 'b', 'c'].map((name, at) =>
    call({
      idempotencyKey: name,
      onQuestion: async () => {
        asking.push(name)
        while (asking.length < 3) await new Promise((resolve) => setImmediate(resolve))
        return { action: 'accept', content: { seats: at + 1 } }
      },
    }),
  )
  const seats = (await Promise.all(called)).map((each) => (each as { result: JsonObject }).result['content'])
  expect(seats).toEqual([{ seats: 1 }, { seats: 2 }, { seats: 3 }])
})

test('questions of one call are asked one after the other, and at most eight', async () => {
  await start('sessions', async (_, { ask }) => {
    const all = await Promise.allSettled(Array.from({ length: 9 }, () => ask!({ mode: 'form', ...SEATS })))
    return text(all.map((each) => (each.status === 'fulfilled' ? 'answered' : String(each.reason))))
  })
  let open = 0
  let most = 0
  const onQuestion = async (): Promise<ServerAnswer> => {
    most = Math.max(most, ++open)
    await new Promise((resolve) => setImmediate(resolve))
    open--
    return { action: 'decline' }
  }
  expect(await call({ onQuestion })).toMatchObject({
    result: [
      ...Array.from({ length: 8 }, () => 'answered'),
      'McpError: MCP error -32602: svc does not pass the question on: the server asks more than 8 questions in one call.',
    ],
  })
  expect(most).toBe(1)
})

test('a server whose question does not fit is told what is wrong, and its call goes on', async () => {
  await start('sessions', async (_, { ask }) =>
    text(await ask!({ mode: 'url', message: 'Here.', url: 'javascript:alert(1)', elicitationId: 'e' }).catch(String)),
  )
  expect(await call({ onQuestion: () => Promise.resolve({ action: 'cancel' }) })).toMatchObject({
    isError: false,
    result:
      'McpError: MCP error -32602: svc does not pass the question on: the server gives an address of the scheme javascript:, and may give https.',
  })
})

const fields = (properties: object): JsonObject => ({
  message: 'M',
  requestedSchema: { type: 'object', properties } as never,
})
const deep = (depth: number): JsonObject => (depth === 0 ? {} : { type: 'object', properties: { a: deep(depth - 1) } })

test.each<[string, JsonObject, string]>([
  ['no message', { requestedSchema: {} }, 'asks without a message'],
  ['no schema', { message: 'M' }, 'asks without a requestedSchema'],
  ['another mode', { message: 'M', mode: 'voice' }, 'asks in the mode "voice", which svc does not know'],
  [
    'ten thousand fields',
    fields(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, { type: 'string' }]))),
    'asks for 10000 fields at once, and may ask for 30',
  ],
  [
    'fields in fields',
    fields({ a: deep(50) }),
    'has the field "a", which is neither a text, a number, a boolean nor a choice',
  ],
  [
    'a name for the prototype',
    fields(JSON.parse('{"__proto__":{"type":"string"}}') as object),
    'has a field whose name is not text of 1 to 100 characters',
  ],
  [
    'a password',
    fields({ pw: { type: 'string', format: 'password' } }),
    'has the field "pw", which takes a secret: a server may ask for one at an address only, never in a form',
  ],
  [
    'too many choices',
    fields({ c: { type: 'string', enum: Array.from({ length: 101 }, (_, at) => `${at}`) } }),
    'has the field "c", which has more than 100 choices',
  ],
  ['no choice', fields({ c: { type: 'string', enum: [] } }), 'has the field "c", which has no choice'],
  [
    'bounds that nothing fits',
    fields({ n: { type: 'integer', minimum: 9, maximum: 1 } }),
    'has the field "n", which has bounds between which nothing lies',
  ],
  [
    'more to be chosen than there is',
    fields({ c: { type: 'array', items: { enum: ['a'] }, minItems: 2 } }),
    'has the field "c", which has bounds between which nothing lies',
  ],
  ['no address', { message: 'M', mode: 'url' }, 'gives no address of at most 2000 characters'],
  [
    'a user name in its address',
    { message: 'M', mode: 'url', url: 'https://bank.example@evil.example/' },
    'gives an address with a user name, which could pass for its host',
  ],
])('a question with %s is refused', (_, params, why) => {
  expect(() => readQuestion('q', params)).toThrow(why)
})

const CHOICES = { type: 'string', enum: ['a', 'b'] }

test.each<[string, JsonObject, JsonObject]>([
  ['a choice without a type', { enum: ['a', 'b'] }, CHOICES],
  ['a choice that may be null', { enum: ['a', 'b', null] }, CHOICES],
  [
    'a named choice without a type',
    { oneOf: [{ const: 'a', title: 'A' }] },
    { type: 'string', enum: ['a'], 'x-svc-names': ['A'] },
  ],
  [
    'a named choice that may be null',
    { anyOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }, { type: 'null' }] },
    { ...CHOICES, 'x-svc-names': ['A', 'B'] },
  ],
  [
    'a text that may be null',
    { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }], default: null, title: 'T' },
    { type: 'string', maxLength: 9, title: 'T' },
  ],
  ['a number of two types', { type: ['integer', 'null'], minimum: 1 }, { type: 'integer', minimum: 1 }],
  ['a nullable choice', { anyOf: [CHOICES, { type: 'null' }] }, CHOICES],
  ['a list without a type', { items: CHOICES }, { type: 'array', items: CHOICES, uniqueItems: true, maxItems: 2 }],
  ['a length that is none', { type: 'string', minLength: -1, maxLength: 1.5 }, { type: 'string' }],
])('a field that is %s is understood', (_, field, read) => {
  expect(readQuestion('q', fields({ f: field })).schema?.['properties']).toEqual({ f: read })
})

function readOrRefuse(params: JsonObject): ServerQuestion | undefined {
  try {
    return readQuestion('q', params)
  } catch (error) {
    if (error instanceof QuestionProblem) return undefined
    throw error
  }
}

test('whatever a field says, its question is refused, or can be answered and is checked', () => {
  const member = (...names: string[]) => fc.constantFrom(...names)
  const bound = fc.oneof(fc.integer({ min: -3, max: 9 }), fc.double(), fc.string(), fc.constant(null))
  const type = member('string', 'number', 'integer', 'boolean', 'array', 'null', 'object')
  const choices = fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 4 })
  const leaf = fc.record(
    {
      type: fc.oneof(type, fc.array(type, { maxLength: 3 })),
      enum: choices,
      anyOf: fc.array(fc.record({ const: fc.string(), type }, { requiredKeys: [] }), { maxLength: 3 }),
      format: member('email', 'date', 'x'),
      ...Object.fromEntries(
        ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'default'].map((each) => [
          each,
          bound,
        ]),
      ),
    },
    { requiredKeys: [] },
  )
  const field = fc
    .record({ items: leaf }, { requiredKeys: [] })
    .chain((more) => leaf.map((own) => ({ ...own, ...more })))
  fc.assert(
    fc.property(field, (given) => {
      const question = readOrRefuse(fields({ f: given }))
      if (question === undefined) return true
      return checkValue(question.schema!, {}).length === 0 && answerFormOf(question).options?.length !== 0
    }),
    { numRuns: 500 },
  )
})

test.each<[string, JsonObject, object]>([
  ['null', { mode: null, ...SEATS }, { ...ASKED, name: 'q' }],
  [
    'left out before an address',
    { message: 'M', url: 'https://a.example/' },
    { name: 'q', message: 'M', url: 'https://a.example/' },
  ],
])('a mode that is %s is understood', (_, params, read) => {
  expect(readQuestion('q', params)).toEqual(read)
})

test('a question is passed on without what the protocol does not have', () => {
  const properties = {
    name: { type: 'string', title: 'Name', description: 'Yours.', maxLength: 40, pattern: '(a+)+$', default: 'Ann' },
    mail: { type: 'string', format: 'email', default: 7 },
    size: { type: 'string', enum: ['s', 'm'], enumNames: ['small', 'medium'] },
    color: { type: 'string', oneOf: [{ const: '#f00', title: 'Red' }] },
    days: { type: 'array', items: { anyOf: [{ const: 'mon', title: 'Monday' }] }, minItems: 1 },
  }
  const params = {
    message: 'x'.repeat(3000),
    requestedSchema: { type: 'object', properties, required: ['name', 'none'] },
  }
  expect(readQuestion('q', params)).toEqual({
    name: 'q',
    message: `${'x'.repeat(2000)}…`,
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', description: 'Yours.', maxLength: 40, default: 'Ann' },
        mail: { type: 'string', format: 'email' },
        size: { type: 'string', enum: ['s', 'm'], 'x-svc-names': ['small', 'medium'] },
        color: { type: 'string', enum: ['#f00'], 'x-svc-names': ['Red'] },
        days: {
          type: 'array',
          items: { type: 'string', enum: ['mon'], 'x-svc-names': ['Monday'] },
          uniqueItems: true,
          minItems: 1,
          maxItems: 1,
        },
      },
      required: ['name'],
      additionalProperties: false,
    },
  })
})

test.each<[string, JsonObject, string]>([
  [
    'a model',
    { inputRequests: { a: { method: 'sampling/createMessage', params: {} } } },
    'asks for "sampling/createMessage", which svc gives no server',
  ],
  ['roots', { inputRequests: { a: { method: 'roots/list' } } }, 'asks for "roots/list", which svc gives no server'],
  [
    'nine questions at once',
    {
      inputRequests: Object.fromEntries(
        Array.from({ length: 9 }, (_, at) => [`${at}`, { method: 'elicitation/create', params: SEATS as never }]),
      ),
    },
    'asks 9 questions at once, and may ask 8',
  ],
])('a server that asks for %s has not made the call, and the model reads why', (_, given, why) => {
  const answer = { at: 'result', result: { resultType: 'input_required', ...given } } as const
  expect(toCallOutcome('shop', answer, 1)).toEqual({
    durationMs: 1,
    at: 'returned',
    isError: true,
    notExecuted: true,
    result: `The call was not made: its server asks a person first, and svc does not pass the question on, since it ${why}.`,
  })
})
