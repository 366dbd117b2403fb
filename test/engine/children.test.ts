import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { RunId } from '../../src/base/ids.ts'
import type { BoundAgent } from '../../src/spec/snapshot.ts'
import {
  boundAgent,
  inOrder,
  key,
  oneByOne,
  openBench,
  operator,
  policy,
  reply,
  returns,
  snapshotOf,
  T0,
  tool,
  turns,
  WORKSPACE,
  type Model,
} from './bench.ts'

const pay = tool('pay', { sideEffectClass: 'irreversible_action' })
const ask = (name: string, message = 'go') => ({ name, args: { message } })
const lastTool: (request: Parameters<Model>[0]) => JsonObject = ({ messages }) => {
  const last = messages.findLast((message) => message.role === 'tool')
  return JSON.parse(last?.role === 'tool' ? last.content : '{}') as JsonObject
}

test("shows the wait of a child on its ancestors, and returns the child's output as the result of the call", async () => {
  const child = snapshotOf({ name: 'child', tools: [pay] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: ({ run, messages }) => {
        if (run.turn === 1) return { calls: [ask('child')] }
        const last = messages.at(-1)!
        return `The child said: ${last.role === 'tool' ? last.content : ''}`
      },
      child: inOrder({ calls: [{ name: 'pay', args: { n: 1 } }] }, 'Paid.'),
    },
    tools: { pay: () => returns('ok') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.waitForEvent(run, (event) => event.subject === 'engine.session.paused')
  const runs = await bench.store.runsOfSession((await bench.store.run(run))!.sessionId)
  expect(runs.map((each) => [each.agentName, each.depth, each.status])).toEqual([
    ['acme.root', 0, 'WaitingForHITL'],
    ['acme.child', 1, 'WaitingForHITL'],
  ])
  await bench.engine.answer(run, reply(task))
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.output).toBe('The child said: Paid.')
  expect((await bench.timeline(run)).map((item) => item.type)).toEqual([
    'UserMessage',
    'Reasoning',
    'PolicyDecision',
    'SubAgentCall',
    'UserMessage',
    'Reasoning',
    'PolicyDecision',
    'UserTaskReq',
    'UserTaskRes',
    'ToolCall',
    'ToolResult',
    'Reasoning',
    'Output',
    'RunCompleted',
    'SubAgentResult',
    'Reasoning',
    'Output',
    'RunCompleted',
    'SessionCompleted',
  ])
})

test('runs children in parallel, and continues the parent when all have ended', async () => {
  const child = snapshotOf({ name: 'child' })
  const release: (() => void)[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder({ calls: [ask('child', 'a'), ask('child', 'b')] }, 'Both.'),
      child: ({ run }) => new Promise((resolve) => release.push(() => resolve(run.input['message'] as string))),
    },
  })
  const run = await bench.start('root')
  await turns()
  expect(release).toHaveLength(2)
  release[1]!()
  await turns()
  expect((await bench.store.run(run))!.status).toBe('Running')
  release[0]!()
  await bench.waitForEnd(run)
  const results = (await bench.timeline(run))
    .filter((item) => item.type === 'SubAgentResult')
    .map((item) => item.content['output'])
  expect(results).toEqual(['b', 'a'])
})

test('returns the failure of a child to its parent as a tool error', async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: (request) => (request.run.turn === 1 ? { calls: [ask('child')] } : JSON.stringify(lastTool(request))),
      child: () => new Error('boom'),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(JSON.parse((await bench.store.run(run))!.output as string)).toEqual({
    error: 'subagent_failed',
    status: 'Failed',
    message: 'Something went wrong on our side.',
  })
})

test('result full carries the steps of the child', async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child, { result: 'full' })] }), child],
    models: {
      root: (request) => (request.run.turn === 1 ? { calls: [ask('child')] } : JSON.stringify(lastTool(request))),
      child: inOrder('Hello.'),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const result = JSON.parse((await bench.store.run(run))!.output as string) as {
    output: string
    steps: { type: string }[]
  }
  expect(result.output).toBe('Hello.')
  expect(result.steps.map((step) => step.type)).toEqual(['UserMessage', 'Reasoning', 'Output'])
})

test('refuses a delegation cycle and too deep a nesting before a child is started', async () => {
  const late = (name: string) => ({
    wire: name,
    id: `acme.${name}`,
    lateBound: true,
    description: '',
    result: 'summary' as const,
  })
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'a', agents: [late('b')], limits: { max_subagent_depth: 1 } }),
      snapshotOf({ name: 'b', agents: [late('a'), late('c')] }),
      snapshotOf({ name: 'c' }),
    ],
    models: {
      a: (request) => (request.run.turn === 1 ? { calls: [ask('b')] } : 'End.'),
      b: (request) => (request.run.turn === 1 ? { calls: [ask('a'), ask('c')] } : 'End.'),
      c: inOrder('Never.'),
    },
  })
  const run = await bench.start('a')
  await bench.waitForEnd(run)
  const results = (await bench.timeline(run))
    .filter((item) => item.type === 'ToolResult')
    .map((item) => (item.content['result'] as JsonObject)['error'])
  expect(results).toEqual(['delegation_cycle', 'limit:max_subagent_depth'])
  expect(await bench.store.runsOfSession((await bench.store.run(run))!.sessionId)).toHaveLength(2)
})

describe('an agent whose deployment has ended', () => {
  const child = snapshotOf({ name: 'child' })
  const { digest: _, version: __, ...unbound } = boundAgent(child)
  const late = { ...unbound, lateBound: true }

  /** The root looks, which takes until `answer` is called, and asks the child in the same turn; then it asks again. */
  async function askingBench(bound: BoundAgent) {
    let answer = (): void => {}
    const looked = new Promise<void>((resolve) => void (answer = resolve))
    const root = snapshotOf({ name: 'root', tools: [tool('look')], agents: [bound] })
    const bench = await openBench({
      agents: [root, child],
      models: {
        root: inOrder({ calls: [ask('child'), { name: 'look' }, ask('child')] }, { calls: [ask('child')] }, 'End.'),
        child: inOrder('Hello.'),
      },
      tools: {
        look: async () => {
          await looked
          return returns('seen')
        },
      },
      concurrency: { completion: 1 },
    })
    const { id } = (await bench.store.agents(WORKSPACE)).find(({ name }) => name === 'acme.child')!
    const deployed = (await bench.store.agent(id))!.deployedVersionId!
    await bench.store.deploy(id, deployed, T0, 'operator:olga', undefined, { expiresAt: T0 + 60_000 })
    const run = await bench.start('root')
    await turns()
    await bench.advance(60_000)
    answer()
    await bench.waitForEnd(run)
    const results = (await bench.timeline(run)).flatMap(({ type, content }) =>
      type === 'SubAgentResult' ? [content['output']] : type === 'ToolResult' ? [content['result']] : [],
    )
    return { results, status: (await bench.store.run(run))?.status }
  }

  test('is started by no run any more where it is bound late, also after a decision to start it', async () => {
    const refused = {
      error: 'no_deployed_version',
      message: 'Nothing is deployed of acme.child, or its deployment has ended.',
    }
    expect(await askingBench(late)).toEqual({ results: ['Hello.', 'seen', refused, refused], status: 'Completed' })
  })

  test('is started by those whose closure it belongs to', async () => {
    expect(await askingBench(boundAgent(child))).toEqual({
      results: ['Hello.', 'seen', 'Hello.', 'Hello.'],
      status: 'Completed',
    })
  })
})

test("an ancestor's inherited gate stops a call of its descendant", async () => {
  const child = snapshotOf({ name: 'child', tools: [tool('look')] })
  const root = snapshotOf({
    name: 'root',
    agents: [boundAgent(child)],
    policies: [{ on: [], entry: policy('closed', { effect: 'deny' }), inherited: true }],
  })
  const bench = await openBench({
    agents: [root, child],
    models: { root: inOrder({ calls: [ask('child')] }, 'End.'), child: inOrder({ calls: [{ name: 'look' }] }, 'End.') },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
})

test('cancels the descendants of a root and their calls in flight', async () => {
  const child = snapshotOf({ name: 'child', tools: [pay] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: { root: inOrder({ calls: [ask('child')] }), child: inOrder({ calls: [{ name: 'pay' }] }) },
    tools: { pay: () => returns('ok') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.cancel(run, key())
  const session = (await bench.store.run(run))!.sessionId
  expect((await bench.store.runsOfSession(session)).map((each) => each.status)).toEqual(['Cancelled', 'Cancelled'])
  expect(await bench.engine.answer(run, reply(task))).toMatchObject({
    status: 'Cancelled',
    code: 'task_already_completed',
  })
  expect((await bench.store.events(session, 0, 100)).slice(-5).map((event) => event.subject)).toEqual([
    'engine.run.cancelled',
    'engine.subagent.completed',
    'engine.step.failed',
    'engine.run.cancelled',
    'engine.session.cancelled',
  ])
})

/** A root that hears its child's question, and says what it does with it. */
const questioned = async (onQuestion: (request: Parameters<Model>[0], id: string) => ReturnType<Model>) => {
  const child = snapshotOf({ name: 'child' })
  let id = ''
  return openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: (request) => {
        if (request.run.turn === 1) return { calls: [ask('child')] }
        id ||= lastTool(request)['request_id'] as string
        return onQuestion(request, id)
      },
      child: (request) =>
        request.run.turn === 1
          ? { calls: [{ name: 'ask_parent', args: { question: 'Which account?' } }] }
          : `Used ${lastTool(request)['answer'] as string}.`,
    },
  })
}

test("lets the parent's model answer a question of its child", async () => {
  const statuses: unknown[] = []
  const results: unknown[] = []
  const bench = await questioned(({ run, tools }, id) => {
    if (run.turn === 3) results.push(...run.results.map(({ name, result }) => [name, result]))
    if (run.turn === 2) statuses.push(tools.map((each) => each.name))
    return run.turn === 2
      ? { calls: [{ name: 'answer_subagent', args: { request_id: id, answer: 'the blue one' } }] }
      : 'End.'
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(statuses).toEqual([['answer_subagent', 'escalate_to_person', 'child']])
  const items = await bench.timeline(run)
  expect(items.find((item) => item.type === 'SubAgentResult')!.content).toMatchObject({
    status: 'Completed',
    output: 'Used the blue one.',
  })
  // The last result of the child is what it came to, whichever call waited for that.
  expect(results.slice(1)).toEqual([
    ['child', 'Used the blue one.'],
    ['answer_subagent', 'Used the blue one.'],
  ])
  expect(items.find((item) => item.type === 'ToolCall')!.content).toMatchObject({
    ref: 'svc.answer_subagent',
    version: '1.0.0',
  })
  expect(items.find((item) => item.type === 'AitlResponse')!.content).toMatchObject({
    answer: 'the blue one',
    answered_by: 'parent',
  })
  const events = await bench.store.events((await bench.store.run(run))!.sessionId, 0, 100)
  expect(events.filter((event) => event.kind === 'aitl').map((event) => event.subject)).toEqual([
    'engine.aitl.requested',
    'engine.aitl.answered',
  ])
  expect(events.some((event) => event.data['status'] === 'WaitingForAITL')).toBe(true)
})

test.each([
  [
    'is handed to a person by the model',
    (id: string) => ({ calls: [{ name: 'escalate_to_person', args: { request_id: id, note: 'I cannot know' } }] }),
  ],
  ['goes to a person by itself when the parent ends without an answer', () => 'I am done.'],
])("a child's question %s", async (_, second) => {
  const named: unknown[] = []
  const bench = await questioned(({ run }, id) => {
    if (run.turn === 3) named.push(...run.results.map(({ name, result }) => [name, result]))
    return run.turn === 2 ? second(id) : 'End.'
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'aitl_escalation', prompt: 'Which account?', completable_via: ['operator'] })
  const session = (await bench.store.run(run))!.sessionId
  expect((await bench.store.task(task['user_task_id'] as never))!.runId).toBe(run)
  expect((await bench.store.runsOfSession(session)).map((each) => each.status)).toEqual([
    'WaitingForHITL',
    'WaitingForHITL',
  ])
  expect(await bench.engine.answer(run, reply(task, { textValue: 'red' }))).toMatchObject({ code: 'operator_only' })
  await bench.engine.answer(run, reply(task, { by: operator(), textValue: 'red' }))
  await bench.waitForEnd(run)
  const child = (await bench.store.runsOfSession(session)).find((each) => each.depth === 1)!
  expect(child).toMatchObject({ status: 'Completed', output: 'Used red.' })
  expect(named).toContainEqual(['child', 'Used red.'])
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'End.' })
})

test('reminds a parent that ignores a question once, then escalates the question', async () => {
  const child = snapshotOf({ name: 'child' })
  const heard: unknown[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')], agents: [boundAgent(child)] }), child],
    models: {
      root: (request) => {
        if (request.run.turn === 1) return { calls: [ask('child')] }
        if (request.run.turn === 3) heard.push(lastTool(request)['error'])
        return request.run.turn < 4 ? { calls: [{ name: 'look', args: { n: request.run.turn } }] } : 'End.'
      },
      child: (request) =>
        request.run.turn === 1 ? { calls: [{ name: 'ask_parent', args: { question: 'Why?' } }] } : 'Ah.',
    },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(heard).toEqual(['question_pending'])
  await bench.engine.answer(run, reply(task, { by: operator(), textValue: 'because' }))
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.arguments)).toEqual([{ n: 3 }])
})

test('streams the events of a child and of the session, and ends the stream with the child', async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: { root: inOrder({ calls: [ask('child')] }, 'End.'), child: inOrder('Hello.') },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const childRun = (await bench.store.runsOfSession((await bench.store.run(run))!.sessionId))[1]!.id
  const read = async (id: RunId, after: number) => {
    const subjects: string[] = []
    for await (const event of oneByOne(bench.engine.follow(id, after, new AbortController().signal))) {
      if (event !== 'live' && 'seq' in event) subjects.push(event.subject)
    }
    return subjects
  }
  expect(await read(childRun, 0)).toEqual([
    'engine.session.started',
    'engine.run.started',
    'engine.step.completed',
    'engine.step.completed',
    'engine.step.completed',
    'engine.run.completed',
  ])
  const last = (await bench.store.events((await bench.store.run(run))!.sessionId, 0, 100)).find(
    (event) => event.runId === childRun && event.subject === 'engine.run.completed',
  )!
  expect(await read(childRun, last.seq)).toEqual([])
})

test('leaves no step open when a parent is cancelled while it handles a question', async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: ({ run }) => (run.turn === 1 ? { calls: [ask('child')] } : new Promise(() => {})),
      child: () => ({ calls: [{ name: 'ask_parent', args: { question: 'Which?' } }] }),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEvent(run, (event) => event.subject === 'engine.aitl.requested')
  await turns()
  await bench.engine.cancel(run, operator())
  await bench.waitForEnd(run)
  const steps = await bench.store.stepsOfSession((await bench.store.run(run))!.sessionId)
  expect(steps.filter(({ finishedAt }) => finishedAt === null)).toEqual([])
  expect(steps.find(({ type }) => type === 'SubAgentCall')!.error).toBe('The run ended first.')
})

/** A child that asks two things at once, and a parent that does with its questions what `answer` says. */
async function twoQuestions(answer: (turn: number, open: JsonObject[]) => ReturnType<Model>) {
  const child = snapshotOf({ name: 'child' })
  const both = ['First?', 'Second?'].map((question) => ({ name: 'ask_parent', args: { question } }))
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: ({ run }) => {
        if (run.turn === 1) return { calls: [ask('child')] }
        const asked = run.results.map(({ result }) => result as JsonObject)
        return answer(
          run.turn,
          asked.filter(({ status }) => status === 'question'),
        )
      },
      child: ({ run }) =>
        run.turn === 1
          ? { calls: both }
          : run.results.flatMap(({ result }) => (result as { answer?: string }).answer ?? []).join(' '),
    },
  })
  return { bench, run: await bench.start('root') }
}
const answering = ({ request_id, question }: JsonObject) => ({
  name: 'answer_subagent',
  args: { request_id: request_id!, answer: `${question as string} Yes.` },
})

test('answers two questions of one child one after the other', async () => {
  const { bench, run } = await twoQuestions((turn, open) =>
    turn < 4 ? { calls: [answering(open.at(-1)!)] } : 'The child has ended.',
  )
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'The child has ended.' })
  const results = (await bench.timeline(run)).filter(({ type }) => type === 'SubAgentResult')
  expect(results.map(({ content }) => content['output'])).toEqual(['First? Yes. Second? Yes.'])
})

test("settles both calls that answer questions of one child with the child's outcome", async () => {
  let secondIsAsked: (asked: JsonObject) => void
  const second = new Promise<JsonObject>((resolve) => (secondIsAsked = resolve))
  const { bench, run } = await twoQuestions(async (turn, open) => {
    if (turn === 2) return { calls: [{ name: 'nothing' }] }
    if (turn > 3) return 'The child has ended.'
    return { calls: [open[0]!, await second].map(answering) }
  })
  const { data } = await bench.waitForEvent(
    run,
    (event) => event.subject === 'engine.aitl.requested' && event.data['question'] === 'Second?',
  )
  secondIsAsked!({ request_id: data['requestId']!, question: 'Second?' })
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'The child has ended.' })
  const results = (await bench.timeline(run)).filter(({ type }) => type === 'SubAgentResult')
  expect(results.map(({ content }) => content['output'])).toEqual(
    Array.from({ length: 2 }, () => 'First? Yes. Second? Yes.'),
  )
})

test('escalates two questions that the parent ignores, and lets the parent wait once', async () => {
  const { bench, run } = await twoQuestions((turn) => (turn === 2 ? 'I pass.' : 'The child has ended.'))
  await bench.waitForTask(run, 2)
  for (const { id, prompt } of await bench.store.tasksOfSession((await bench.store.run(run))!.sessionId))
    await bench.engine.answer(run, { taskId: id, by: operator(), textValue: `${prompt} Perhaps.` })
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'The child has ended.' })
  const results = (await bench.timeline(run)).filter(({ type }) => type === 'SubAgentResult')
  expect(results.map(({ content }) => content['output'])).toEqual(['First? Perhaps. Second? Perhaps.'])
})
