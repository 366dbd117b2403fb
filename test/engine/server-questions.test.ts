/** Calls whose server asks a person: the question is a task, and the server gets the call again with the answer. */
import { expect, test } from 'vitest'
import { agentIdOf, type RunId } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { NamedServerAnswer, ServerQuestion } from '../../src/spec/server-question.ts'
import type { GivenAnswer } from '../../src/spec/task.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  inOrder,
  key,
  openBench,
  operator,
  policy,
  reply,
  replyTo,
  returns,
  snapshotOf,
  startOf,
  T0,
  tool,
  WORKSPACE,
  type AgentSpec,
  type Bench,
  type ToolFunction,
} from './bench.ts'

const form = (properties: JsonObject, required: string[] = Object.keys(properties)): ServerQuestion => ({
  name: 'q1',
  message: 'How many?',
  schema: { type: 'object', properties, required, additionalProperties: false },
})
const asks = (...questions: ServerQuestion[]): ToolOutcome => ({ at: 'asked', questions, state: 'opaque' })

const book = tool('book', { sideEffectClass: 'non_idempotent_write', mcp: { server: 'shop', tool: 'book' } })

/** Asks in place of the first attempt, and books with the second. */
const onceAsking =
  (...questions: ServerQuestion[]): ToolFunction =>
  ({ attempt }) =>
    attempt === 1 ? asks(...questions) : returns('booked')

const open = (run: ToolFunction, more: Partial<AgentSpec> = {}): Promise<Bench> =>
  openBench({
    agents: [snapshotOf({ name: 'root', tools: [book], ...more })],
    models: { root: inOrder({ calls: [{ name: 'book', args: { room: 7 } }] }, 'Done.') },
    tools: { book: run },
  })

const answersOf = ({ invoked }: Bench): readonly (readonly NamedServerAnswer[] | undefined)[] =>
  invoked.map(({ input }) => input?.answers)

test('the question is a task of the run, and its answer goes with the next attempt of the same call', async () => {
  const bench = await open(onceAsking(form({ seats: { type: 'integer', minimum: 1, maximum: 9 } })))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toEqual({
    user_task_id: task['user_task_id'],
    kind: 'number',
    title: 'MCP server shop asks: How many?',
    prompt: 'How many?',
    status: 'pending',
    question: {
      server: 'shop',
      tool: 'acme.book',
      schema: {
        type: 'object',
        properties: { seats: { type: 'integer', minimum: 1, maximum: 9 } },
        required: ['seats'],
        additionalProperties: false,
      },
    },
    min: 1,
    max: 9,
    completable_via: ['api', 'operator'],
  })
  expect((await bench.store.run(run))?.status).toBe('WaitingForHITL')
  expect(await bench.engine.answer(run, reply(task, { numberValue: 3 }))).not.toHaveProperty('error')
  await bench.waitForEnd(run)
  expect(bench.invoked.map(({ idempotencyKey, attempt, input }) => ({ idempotencyKey, attempt, input }))).toEqual([
    { idempotencyKey: bench.invoked[0]!.idempotencyKey, attempt: 1 },
    {
      idempotencyKey: bench.invoked[0]!.idempotencyKey,
      attempt: 2,
      input: { answers: [{ name: 'q1', action: 'accept', content: { seats: 3 } }], state: 'opaque' },
    },
  ])
  const timeline = await bench.timeline(run)
  expect(timeline.map(({ type }) => type)).toEqual([
    'UserMessage',
    'Reasoning',
    'PolicyDecision',
    'ToolCall',
    'UserTaskReq',
    'UserTaskRes',
    'PolicyDecision',
    'ToolCall',
    'ToolResult',
    'Reasoning',
    'Output',
    'RunCompleted',
    'SessionCompleted',
  ])
  expect(timeline.find(({ type }) => type === 'UserTaskRes')?.content).toMatchObject({
    outcome: 'answered',
    number_value: 3,
    completed_by: 'key:k1',
  })
})

const both = form({ name: { type: 'string', maxLength: 5 }, agrees: { type: 'boolean' } }, ['name'])

/** A question; how its task is answered; what the server gets. */
test.each<[string, ServerQuestion, Partial<GivenAnswer>, Omit<NamedServerAnswer, 'name'>]>([
  ['a text', form({ who: { type: 'string' } }), { textValue: 'Ann' }, { action: 'accept', content: { who: 'Ann' } }],
  [
    'a text that may be left out',
    form({ who: { type: 'string' } }, []),
    { textValue: '' },
    { action: 'accept', content: {} },
  ],
  ['a number', form({ n: { type: 'number' } }), { numberValue: 1.5 }, { action: 'accept', content: { n: 1.5 } }],
  [
    'a yes',
    form({ sure: { type: 'boolean' } }),
    { selectedOptionId: 'true' },
    { action: 'accept', content: { sure: true } },
  ],
  [
    'a no',
    form({ sure: { type: 'boolean' } }),
    { selectedOptionId: 'false' },
    { action: 'accept', content: { sure: false } },
  ],
  [
    'a choice',
    form({ size: { type: 'string', enum: ['s', 'decline'] } }),
    { selectedOptionId: 'decline' },
    { action: 'accept', content: { size: 'decline' } },
  ],
  [
    'several choices',
    form({ days: { type: 'array', items: { type: 'string', enum: ['mon', 'tue'] } } }),
    { textValue: '{"days":["tue"]}' },
    { action: 'accept', content: { days: ['tue'] } },
  ],
  [
    'several fields',
    both,
    { textValue: '{"name":"Ann","agrees":true}' },
    { action: 'accept', content: { name: 'Ann', agrees: true } },
  ],
  ['no field at all', form({}), { selectedOptionId: 'accept' }, { action: 'accept', content: {} }],
  [
    'an address that was opened',
    { name: 'q1', message: 'Sign in.', url: 'https://shop.example/login' },
    { selectedOptionId: 'done' },
    { action: 'accept' },
  ],
  ['a refusal', both, { approved: false }, { action: 'decline' }],
  ['a question that is closed', both, { approved: false, metadata: { 'svc/cancel': true } }, { action: 'cancel' }],
])('the server gets %s', async (_, question, answer, expected) => {
  const bench = await open(onceAsking(question))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(await bench.engine.answer(run, reply(task, answer))).not.toHaveProperty('error')
  await bench.waitForEnd(run)
  expect(answersOf(bench)).toEqual([undefined, [{ name: 'q1', ...expected }]])
})

test.each<[string, ServerQuestion, Partial<GivenAnswer>, string]>([
  ['text that is no JSON', both, { textValue: 'Ann' }, 'The answer is a JSON object with the fields name, agrees.'],
  [
    'a field too much',
    both,
    { textValue: '{"name":"Ann","age":3}' },
    'The answer does not fit the question: /age is not allowed.',
  ],
  [
    'a text that is too long',
    both,
    { textValue: '{"name":"Annabel"}' },
    'The answer does not fit the question: /name must NOT have more than 5 characters.',
  ],
  [
    'a part of a number',
    form({ n: { type: 'integer' } }),
    { numberValue: 1.5 },
    'The answer does not fit the question: /n must be integer.',
  ],
  [
    'another choice',
    form({ s: { type: 'string', enum: ['a'] } }),
    { selectedOptionId: 'b' },
    '"b" is none of the options.',
  ],
  [
    'the wrong kind',
    form({ n: { type: 'number' } }),
    { textValue: '3' },
    'This user task is answered with numberValue.',
  ],
])('%s is refused, and the question stays', async (_, question, answer, error) => {
  const bench = await open(onceAsking(question))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(await bench.engine.answer(run, reply(task, answer))).toMatchObject({ code: 'invalid_value', error })
  expect((await bench.store.task(task['user_task_id'] as never))?.status).toBe('pending')
})

test('several questions are asked one after the other, and answered together', async () => {
  const second = { ...form({ who: { type: 'string' } }), name: 'q2', message: 'Who?' }
  const bench = await open(onceAsking(form({ n: { type: 'number' } }), second))
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run), { numberValue: 1 }))
  const next = await bench.waitForTask(run, 2)
  expect([next['prompt'], bench.invoked.length]).toEqual(['Who?', 1])
  await bench.engine.answer(run, reply(next, { textValue: 'Ann' }))
  await bench.waitForEnd(run)
  expect(answersOf(bench)[1]).toEqual([
    { name: 'q1', action: 'accept', content: { n: 1 } },
    { name: 'q2', action: 'accept', content: { who: 'Ann' } },
  ])
})

test('a server that only wants the call again gets it with its state', async () => {
  const bench = await open(({ attempt }) => (attempt === 1 ? asks() : returns('booked')))
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked.map(({ attempt, input }) => [attempt, input])).toEqual([
    [1, undefined],
    [2, { answers: [], state: 'opaque' }],
  ])
})

test('a server that asks for ever is told no, and the model reads why', async () => {
  const bench = await open(() => asks())
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(9)
  expect((await bench.timeline(run)).find(({ type }) => type === 'ToolResult')?.content).toMatchObject({
    is_error: true,
    result: {
      error: 'too_many_questions',
      message: 'book was not executed: its server asked for more than 8 answers.',
    },
  })
})

test('questions use up no attempts of a call that may be repeated', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('find')] })],
    models: { root: inOrder({ calls: [{ name: 'find' }] }, 'Done.') },
    tools: {
      find: ({ attempt }) =>
        attempt <= 3 ? asks() : attempt === 4 ? { at: 'unknown', code: 'timeout', error: 'Late.' } : returns('found'),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
})

test('a restart between the question, the answer and the next attempt loses nothing', async () => {
  const bench = await open(onceAsking(form({ n: { type: 'number' } })))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.restart()
  expect(await bench.engine.answer(run, reply(task, { numberValue: 4 }))).not.toHaveProperty('error')
  await bench.waitForEnd(run)
  expect(answersOf(bench)).toEqual([undefined, [{ name: 'q1', action: 'accept', content: { n: 4 } }]])
})

test('an approval of the call holds over its questions', async () => {
  const bench = await open(onceAsking(form({ n: { type: 'number' } })), {
    policies: [{ on: ['book'], entry: policy('gate', {}) }],
  })
  const run = await bench.start('root')
  await bench.engine.answer(run, replyTo(await bench.waitForTask(run), { by: operator() }))
  const question = await bench.waitForTask(run, 2)
  expect(question).toMatchObject({ kind: 'number', question: { server: 'shop' } })
  await bench.engine.answer(run, reply(question, { numberValue: 2 }))
  await bench.waitForEnd(run)
  const timeline = await bench.timeline(run)
  expect(timeline.filter(({ type }) => type === 'UserTaskReq')).toHaveLength(2)
  expect(timeline.find(({ type }) => type === 'ToolResult')?.content['result']).toBe('booked')
})

test('a run that is cancelled over a question did not make the call, and asks again when it is resumed', async () => {
  const bench = await open(onceAsking(form({ n: { type: 'number' } })))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.cancel(run, operator())
  expect((await bench.store.task(task['user_task_id'] as never))?.status).toBe('cancelled')
  expect(await bench.engine.answer(run, reply(task, { numberValue: 1 }))).toMatchObject({
    code: 'task_already_completed',
  })
  expect((await bench.timeline(run)).map(({ type }) => type)).not.toContain('ToolResult')
})

test('what is typed into a field for a secret reaches the server alone', async () => {
  const bench = await open(onceAsking(form({ user: { type: 'string' }, password: { type: 'string' } })))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const given = { textValue: '{"user":"ann","password":"tulip-9"}' }
  await bench.engine.answer(run, reply(task, given))
  await bench.waitForEnd(run)
  expect(answersOf(bench)[1]).toEqual([{ name: 'q1', action: 'accept', content: { user: 'ann', password: 'tulip-9' } }])
  const kept = JSON.stringify([
    await bench.timeline(run),
    await bench.store.task(task['user_task_id'] as never),
    await bench.store.run(run),
  ])
  expect(kept).not.toContain('tulip-9')
  expect(kept).toContain(String.raw`{\"user\":\"ann\",\"password\":\"***\"}`)
})

test('a call is not made where a person does not do what its server asks for in any case', async () => {
  const address: ServerQuestion = { name: 'e', message: 'Sign in.', url: 'https://a.example/' }
  const bench = await open(() => ({ at: 'asked', questions: [address], endsWhenRefused: true }))
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run), { approved: false }))
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
  expect((await bench.timeline(run)).find(({ type }) => type === 'ToolResult')?.content['result']).toMatchObject({
    error: 'declined',
  })
})

/** Asks while its call is open, and returns what it was told. */
const asking =
  (until = Infinity): ToolFunction =>
  async ({ onQuestion, notAfter }) => {
    const { name: _, ...question } = form({ seats: { type: 'integer' } })
    const answer = await onQuestion!({ name: '1', ...question }, Math.min(until, notAfter))
    return returns({ ...answer })
  }
const resultOf = async (bench: Bench, run: RunId): Promise<unknown> =>
  (await bench.timeline(run)).find(({ type }) => type === 'ToolResult')?.content['result']

test('a question on an open call is a task, and its answer goes to the server that waits', async () => {
  const bench = await open(asking())
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'number', on_timeout: 'deny', question: { server: 'shop', tool: 'acme.book' } })
  expect((await bench.store.run(run))?.status).toBe('WaitingForHITL')
  expect((await bench.engine.answer(run, reply(task, { numberValue: 5 }))).pending).toEqual([])
  await bench.waitForEnd(run)
  expect(await resultOf(bench, run)).toEqual({ action: 'accept', content: { seats: 5 } })
  expect(bench.invoked).toHaveLength(1)
})

test('a question on an open call that nobody answers in time is cancelled', async () => {
  const bench = await open(asking(T0 + 1000))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.advance(1000)
  await bench.waitForEnd(run)
  expect(await resultOf(bench, run)).toEqual({ action: 'cancel' })
  expect((await bench.store.task(task['user_task_id'] as never))?.status).toBe('expired')
})

test('a task is closed once the call that asked has ended', async () => {
  const bench = await open(({ onQuestion, notAfter }) => {
    void onQuestion!({ ...form({ n: { type: 'number' } }), name: '1' }, notAfter)
    return new Promise((resolve) => setTimeout(() => resolve(returns('not waited')), 50))
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.waitForEnd(run)
  expect((await bench.store.task(task['user_task_id'] as never))?.status).toBe('cancelled')
})

test('a restart closes the task of an open call, and its outcome is one for a review', async () => {
  const bench = await open(({ attempt, ...more }, signal) =>
    attempt === 1 ? asking()({ attempt, ...more }, signal) : returns('again'),
  )
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.restart()
  const review = await bench.waitForTask(run, 2)
  expect(review['kind']).toBe('anomaly_review')
  expect((await bench.store.task(task['user_task_id'] as never))?.status).toBe('cancelled')
  expect(await bench.engine.answer(run, reply(task, { numberValue: 1 }))).toMatchObject({
    code: 'task_already_completed',
  })
})

test('a client whose call asks is told where a person answers', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [book], model: { provider: 'external', name: 'client' } })],
    models: {},
    tools: { book: onceAsking(form({ n: { type: 'number' } })) },
  })
  const call = {
    workspaceId: WORKSPACE,
    agentId: agentIdOf('test', 'acme.root'),
    principal: key('k1', 'root'),
    conversation: 'c',
    callId: 'c1',
    tool: 'book',
    arguments: {},
    limits: startOf('root').limits,
  }
  const signal = AbortSignal.timeout(5000)
  const asked = await bench.engine.gate.callTool(call, { signal, leavesForPerson: true })
  expect(asked).toMatchObject({ at: 'asking', title: 'MCP server shop asks: How many?', answersServer: true })
  const [task] = await bench.store.pendingTasks(asked.sessionId)
  await bench.engine.answer(asked.runId, { taskId: task!.id, numberValue: 2, by: operator() })
  expect(await bench.engine.gate.callTool(call, { signal })).toMatchObject({ at: 'settled', result: 'booked' })
})
