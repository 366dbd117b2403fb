/** Calls of a client, through an agent that stands for it. Source: docs/design/gate.md#the-agent */
import { expect, test } from 'vitest'
import { digestOfJson } from '../../src/base/digest.ts'
import { agentIdOf, type SessionId } from '../../src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { ClientCall, ClientCallAnswer } from '../../src/engine/interface/client-call.ts'
import { holdOfState } from '../../src/spec/run/hold.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  boundAgent,
  builtin,
  inOrder,
  key,
  openBench,
  operator,
  policy,
  publish,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  WORKSPACE,
  type AgentSpec,
  type Bench,
  type BenchSpec,
} from './bench.ts'

const HOUR = 3600_000
const EXTERNAL = { provider: 'external', name: 'client' }
const amountSchema: JsonObject = {
  type: 'object',
  properties: { amount: { type: 'number' } },
  required: ['amount'],
  additionalProperties: false,
}
const pay = tool('pay', {
  sideEffectClass: 'irreversible_action',
  inputSchema: amountSchema,
  inputSchemas: [amountSchema],
})
const payPolicy = {
  on: ['pay'],
  entry: policy('pay', { obligations: { timeout: { after_minutes: 60, default: 'deny' } } }),
}

const clientAgent = (about: Partial<AgentSpec> = {}): AgentSnapshot =>
  snapshotOf({ name: 'desk', tools: [tool('look'), pay], policies: [payPolicy], model: EXTERNAL, ...about })

const openGate = (
  tools: BenchSpec['tools'] = {},
  agent: AgentSnapshot = clientAgent(),
  more: Partial<BenchSpec> = {},
) =>
  openBench({
    agents: [agent],
    models: {},
    tools: { look: () => returns('seen'), pay: () => returns({ paid: true }), ...tools },
    ...more,
  })

const callOf = (callId: string, wire: string, args: JsonValue = {}, more: Partial<ClientCall> = {}): ClientCall => ({
  workspaceId: WORKSPACE,
  agentId: agentIdOf('test', 'acme.desk'),
  principal: key('k1', 'desk'),
  conversation: 'c-1',
  callId,
  tool: wire,
  arguments: args,
  limits: startOf('desk').limits,
  ...more,
})

/** Makes a call and waits until it rests. */
const make = (bench: Bench, call: ClientCall, signal = AbortSignal.timeout(5000)): Promise<ClientCallAnswer> =>
  bench.engine.gate.callTool(call, { signal, leavesForPerson: true })

/** What is known of a call now. */
const find = (bench: Bench, { callId, ...of }: ClientCall): Promise<ClientCallAnswer> =>
  bench.engine.gate.findCall({ ...of, callId }, { signal: AbortSignal.abort() })

const stateOf = ({ sessionId: _sessionId, runId: _runId, callId: _callId, ...state }: ClientCallAnswer): object => state
const settled = (result: JsonValue, more: object = {}) => ({
  at: 'settled',
  outcome: 'executed',
  result,
  isError: false,
  media: [],
  ...more,
})
const taskOf = async (bench: Bench, { sessionId }: ClientCallAnswer) => (await bench.store.pendingTasks(sessionId))[0]!
const decide = async (bench: Bench, answer: ClientCallAnswer, approved: boolean, metadata: JsonObject = {}) => {
  const task = await taskOf(bench, answer)
  const given = { approved, metadata: { 'svc/arguments_digest': task.argumentsDigest!, ...metadata } }
  expect(await bench.engine.answer(task.runId, { taskId: task.id, by: operator(), ...given })).not.toHaveProperty(
    'error',
  )
}
const approve = (bench: Bench, answer: ClientCallAnswer) => decide(bench, answer, true)

test('a call is decided, sent and settled as in a run, and the run waits for the next one', async () => {
  const bench = await openGate()
  const first = await make(bench, callOf('a', 'look', { n: 1 }))
  expect(stateOf(first)).toEqual(settled('seen'))
  const second = await make(bench, callOf('b', 'look', { n: 2 }))
  expect(second.runId).toBe(first.runId)
  const run = (await bench.store.run(first.runId))!
  expect(run).toMatchObject({ status: 'Running', usage: { inputTokens: 0, outputTokens: 0, iterations: 2 } })
  expect(holdOfState(run)).toBeUndefined()
  const oneCall = ['Reasoning', 'PolicyDecision', 'ToolCall', 'ToolResult']
  expect((await bench.timeline(first.runId)).map(({ type }) => type)).toEqual(['UserMessage', ...oneCall, ...oneCall])
  // Nothing is in flight, so no process holds it.
  expect(bench.busySessions()).toEqual([])
})

test('a repeated call id is the same call: it is sent once, and answered with its outcome', async () => {
  const bench = await openGate()
  const call = callOf('a', 'look', { n: 1 })
  const answers = await Promise.all([make(bench, call), make(bench, call), make(bench, call)])
  answers.push(await make(bench, call), await find(bench, call))
  expect(answers.map(stateOf)).toEqual(answers.map(() => settled('seen')))
  expect(bench.invoked).toHaveLength(1)
  await expect(make(bench, callOf('a', 'look', { n: 2 }))).rejects.toThrow('call id a was used for another call')
  await expect(make(bench, callOf('a', 'pay', { n: 1 }))).rejects.toThrow('call id a was used for another call')
})

test('a call that was made is told as made after its words were erased, and is not made again', async () => {
  const bench = await openGate()
  const call = callOf('a', 'look', { n: 1 })
  const { sessionId, runId } = await make(bench, call)
  await bench.engine.cancel(runId, operator())
  await bench.engine.erase(sessionId)
  const message = 'The call was made (executed), and its result has been erased.'
  expect(stateOf(await make(bench, call))).toEqual(settled({ error: 'erased', message }, { isError: true }))
  expect(bench.invoked).toHaveLength(1)
})

const FAILED: ToolOutcome = returns({ message: 'out of paper' }, true)
interface Refusal {
  readonly what: string
  readonly call: ClientCall
  readonly told: object
  readonly tools?: BenchSpec['tools']
  readonly agent?: AgentSnapshot
}
const refusals: readonly Refusal[] = [
  {
    what: 'arguments that do not fit the schema',
    call: callOf('a', 'pay', { amount: 'five', to: 'x' }),
    told: {
      outcome: 'invalid',
      result: {
        error: 'invalid_arguments',
        details: expect.arrayContaining([{ path: '/amount', message: expect.any(String) }]),
      },
    },
  },
  {
    what: 'an error of the tool',
    call: callOf('a', 'look'),
    told: { outcome: 'failed', result: { message: 'out of paper' } },
    tools: { look: () => FAILED },
  },
  {
    what: 'a denial, with the reason of the policy',
    call: callOf('a', 'look'),
    told: { outcome: 'denied', result: { error: 'denied', message: expect.stringContaining('because of no') } },
    agent: clientAgent({ policies: [{ on: ['look'], entry: policy('no', { effect: 'deny' }) }] }),
  },
]
test.each(refusals)('the client reads $what', async ({ call, told, tools, agent }) => {
  const bench = await openGate(tools, agent)
  expect(await make(bench, call)).toMatchObject({ at: 'settled', isError: true, ...told })
})

test('a call that needs a person is answered with the task, and made once after the decision', async () => {
  const bench = await openGate()
  const call = callOf('p', 'pay', { amount: 5 })
  const asked = await make(bench, call)
  const task = await taskOf(bench, asked)
  expect(stateOf(asked)).toEqual({ at: 'asking', taskId: task.id, title: task.title, until: task.expiresAt })
  expect(bench.invoked).toEqual([])
  await approve(bench, asked)
  expect(stateOf(await make(bench, call))).toEqual(settled({ paid: true }))
  expect(bench.invoked).toHaveLength(1)
})

test('a caller that is patient gets the outcome of a call that a person decides meanwhile', async () => {
  const bench = await openGate()
  const call = callOf('p', 'pay', { amount: 5 })
  const held = bench.engine.gate.callTool(call, { signal: AbortSignal.timeout(5000) })
  await turns()
  await approve(bench, await find(bench, call))
  expect(stateOf(await held)).toEqual(settled({ paid: true }))
})

test('a caller whose patience ends gets what is known', async () => {
  const bench = await openGate({ look: () => new Promise(() => {}) })
  const patience = new AbortController()
  const calls = [callOf('p', 'pay', { amount: 5 }), callOf('l', 'look')]
  const held = calls.map((call) => bench.engine.gate.callTool(call, { signal: patience.signal }))
  await turns()
  patience.abort()
  expect((await Promise.all(held)).map(({ at }) => at)).toEqual(['asking', 'working'])
})

test('a rejection is told, and the call is not made', async () => {
  const bench = await openGate()
  const asked = await make(bench, callOf('p', 'pay', { amount: 5 }))
  await decide(bench, asked, false)
  expect(await make(bench, callOf('p', 'pay', { amount: 5 }))).toMatchObject({ outcome: 'rejected', isError: true })
  expect(bench.invoked).toEqual([])
})

test('arguments that a person edited are told with the result', async () => {
  const bench = await openGate()
  const call = callOf('p', 'pay', { amount: 5 })
  const asked = await make(bench, call)
  await decide(bench, asked, true, { 'svc/arguments': { amount: 3 } })
  const answer = await make(bench, call)
  expect(stateOf(answer)).toEqual(settled({ paid: true }, { editedArguments: { amount: 3 } }))
  expect(bench.invoked[0]!.arguments).toEqual({ amount: 3 })
})

test('a call that waits for a person holds up no other, however many there are', async () => {
  const bench = await openGate()
  const asked = await make(bench, callOf('p', 'pay', { amount: 5 }))
  for (let at = 0; at < 50; at++)
    expect(stateOf(await make(bench, callOf(`l${at}`, 'look', { at })))).toEqual(settled('seen'))
  const { state } = (await bench.store.run(asked.runId))!
  // Settled calls do not pile up behind it.
  expect(state.at === 'calling' && state.calls.map(({ id }) => id)).toEqual(['p', 'l48', 'l49'])
  await approve(bench, asked)
  expect(stateOf(await make(bench, callOf('p', 'pay', { amount: 5 })))).toEqual(settled({ paid: true }))
  const keys = bench.invoked.map(({ idempotencyKey }) => idempotencyKey)
  expect(new Set(keys).size).toBe(51)
  expect(await bench.store.run(asked.runId)).toMatchObject({ state: { at: 'thinking', turn: 2 }, status: 'Running' })
  expect(stateOf(await find(bench, callOf('l7', 'look', { at: 7 })))).toEqual(settled('seen'))
})

test('calls that overlap go out together; unsafe ones one after another', async () => {
  const gates: (() => void)[] = []
  const wait = (result: string) => () => new Promise<ToolOutcome>((done) => gates.push(() => done(returns(result))))
  const agent = clientAgent({
    tools: [tool('look'), tool('post', { sideEffectClass: 'non_idempotent_write' })],
    policies: [],
  })
  const bench = await openGate({ look: wait('seen'), post: wait('posted') }, agent)
  const names = ['look', 'post', 'look', 'post']
  const made = names.map((name, at) => make(bench, callOf(`c${at}`, name, { at })))
  await turns()
  expect(bench.invoked.map(({ tool: { wire } }) => wire).toSorted()).toEqual(['look', 'look', 'post'])
  for (const open of gates.splice(0)) open()
  await turns()
  for (const open of gates.splice(0)) open()
  expect((await Promise.all(made)).map((each) => each.at === 'settled' && each.result)).toEqual([
    'seen',
    'posted',
    'seen',
    'posted',
  ])
})

test('more calls under way than the agent allows are refused, and nothing is recorded of them', async () => {
  const bench = await openGate({ look: () => new Promise(() => {}) }, { ...clientAgent(), maxToolCalls: 2 })
  for (const id of ['a', 'b']) void make(bench, callOf(id, 'look')).catch(() => {})
  await turns()
  await expect(make(bench, callOf('c', 'look'))).rejects.toThrow('2 calls of this conversation are under way')
  await expect(find(bench, callOf('c', 'look'))).rejects.toThrow('call')
})

test('a tool that is not offered is refused', async () => {
  const bench = await openGate({}, clientAgent({ tools: [tool('look'), builtin('ask_user')], policies: [] }))
  for (const name of ['ask_user', 'drop', 'constructor'])
    await expect(make(bench, callOf('a', name))).rejects.toThrow(`acme.desk offers no tool ${name}.`)
  const listed = await bench.engine.gate.listTools(callOf('a', 'look'), AbortSignal.timeout(1000))
  expect(listed.map((each) => [each.tool.wire, each.description])).toEqual([['look', 'Does look.']])
})

test('a server that says nothing of its tool takes no other tool off the list', async () => {
  const { inputSchema: _, ...far } = tool('far')
  const bench = await openGate({}, clientAgent({ tools: [tool('look'), far], policies: [] }), {
    described: { far: 'never' },
  })
  const patience = new AbortController()
  const listing = bench.engine.gate.listTools(callOf('a', 'look'), patience.signal)
  await turns()
  patience.abort()
  expect((await listing).map((each) => [each.tool.wire, each.inputSchema])).toEqual([
    ['look', tool('look').inputSchema],
    ['far', {}],
  ])
})

test('an unsafe call whose outcome got lost is held for a person, and not sent again', async () => {
  const agent = clientAgent({
    tools: [tool('look'), tool('post', { sideEffectClass: 'non_idempotent_write' })],
    policies: [],
  })
  const bench = await openGate({ post: () => new Promise(() => {}) }, agent)
  const call = callOf('p', 'post', { amount: 5 })
  void make(bench, call).catch(() => {})
  await turns()
  expect(bench.invoked).toHaveLength(1)
  await bench.restart()
  await turns()
  const answer = await make(bench, call)
  const review = await taskOf(bench, answer)
  expect(stateOf(answer)).toEqual({ at: 'unknown', taskId: review.id })
  // Another client call that only reads goes on.
  expect(stateOf(await make(bench, callOf('l', 'look')))).toEqual(settled('seen'))
  await bench.engine.answer(review.runId, {
    taskId: review.id,
    by: operator(),
    selectedOptionId: 'happened',
    textValue: '{"posted":true}',
  })
  expect(await make(bench, call)).toMatchObject({ at: 'settled', outcome: 'executed', isError: false })
  expect(bench.invoked.filter(({ tool: { wire } }) => wire === 'post')).toHaveLength(1)
})

test.each(['agent', 'tool'] as const)('a paused %s holds a call until the pause ends', async (kind) => {
  const bench = await openGate()
  const setPaused = (isPaused: boolean) =>
    bench.engine.setPaused(WORKSPACE, {
      kind,
      name: kind === 'agent' ? 'acme.desk' : 'acme.look',
      isPaused,
      at: bench.clock.now(),
      by: 'operator:olga',
      reason: 'odd',
    })
  await make(bench, callOf('a', 'look'))
  await setPaused(true)
  const patience = new AbortController()
  const held = bench.engine.gate.callTool(callOf('b', 'look'), { signal: patience.signal })
  await turns()
  patience.abort()
  expect(await held).toMatchObject({ at: 'held', hold: { reason: 'paused' } })
  await setPaused(false)
  expect(stateOf(await make(bench, callOf('b', 'look')))).toEqual(settled('seen'))
  expect(bench.invoked).toHaveLength(2)
})

test('a paused agent begins no conversation', async () => {
  const bench = await openGate()
  const act = { kind: 'agent', name: 'acme.desk', isPaused: true, by: 'operator:olga', reason: 'odd' } as const
  await bench.engine.setPaused(WORKSPACE, { ...act, at: bench.clock.now() })
  await expect(make(bench, callOf('a', 'look'))).rejects.toThrow('is paused')
})

test('a conversation whose client calls nothing for an hour is completed, and goes on with its next call', async () => {
  const bench = await openGate()
  const first = await make(bench, callOf('a', 'look'))
  await bench.advance(HOUR - 1)
  expect(await bench.store.run(first.runId)).toMatchObject({ status: 'Running' })
  await make(bench, callOf('b', 'look'))
  await bench.advance(HOUR - 1)
  expect(await bench.store.run(first.runId)).toMatchObject({ status: 'Running' })
  await bench.advance(1)
  expect(await bench.store.run(first.runId)).toMatchObject({ status: 'Completed', output: null, errorCode: null })
  const next = await make(bench, callOf('c', 'look'))
  expect([next.sessionId, next.runId === first.runId]).toEqual([first.sessionId, false])
  // What it called before is still known, and not made again.
  expect(await make(bench, callOf('a', 'look'))).toMatchObject({ runId: first.runId, at: 'settled', result: 'seen' })
  await expect(make(bench, callOf('a', 'look', { other: 1 }))).rejects.toThrow('call id a was used')
  expect(bench.invoked).toHaveLength(3)
})

/** Deploys another version of the agent. */
const deploy = (bench: Bench, about: Partial<AgentSpec>): Promise<void> =>
  publish(bench.store, [{ ...clientAgent(about), version: '1.1.0', digest: digestOfJson([about]) }])

test('a version that is deployed decides the next call, of a conversation that goes on', async () => {
  const bench = await openGate({}, clientAgent({ tools: [tool('look'), tool('find')] }))
  const first = await make(bench, callOf('a', 'look'))
  expect(stateOf(first)).toEqual(settled('seen'))
  await deploy(bench, { tools: [tool('look')], policies: [{ on: ['look'], entry: policy('look', {}) }] })
  const next = await make(bench, callOf('b', 'look'))
  expect(next).toMatchObject({ sessionId: first.sessionId, at: 'asking' })
  expect(await bench.store.run(first.runId)).toMatchObject({ status: 'Completed', errorCode: null })
  // What was made stays made, and what is no tool any more is none.
  expect(await make(bench, callOf('a', 'look'))).toMatchObject({ runId: first.runId, at: 'settled' })
  await expect(make(bench, callOf('c', 'find'))).rejects.toThrow('acme.desk offers no tool find.')
  expect(bench.invoked).toHaveLength(1)
})

test('a call that waits when another version is deployed is made as it was decided', async () => {
  const bench = await openGate()
  const asked = await make(bench, callOf('p', 'pay', { amount: 5 }))
  await deploy(bench, { tools: [tool('look')], policies: [] })
  expect(await make(bench, callOf('l', 'look'))).toMatchObject({ runId: asked.runId, at: 'settled' })
  await approve(bench, asked)
  expect(stateOf(await make(bench, callOf('p', 'pay', { amount: 5 })))).toEqual(settled({ paid: true }))
  const next = await make(bench, callOf('m', 'look'))
  expect([next.runId === asked.runId, next.sessionId, stateOf(next)]).toEqual([false, asked.sessionId, settled('seen')])
})

test('no time ends a conversation while a call waits for a person', async () => {
  const agent = clientAgent({ policies: [{ on: ['pay'], entry: policy('pay', {}) }] })
  const bench = await openGate({}, agent)
  const asked = await make(bench, callOf('p', 'pay', { amount: 5 }))
  await bench.advance(50 * HOUR)
  expect(await bench.store.run(asked.runId)).toMatchObject({ status: 'WaitingForHITL' })
  await approve(bench, asked)
  expect(stateOf(await make(bench, callOf('p', 'pay', { amount: 5 })))).toEqual(settled({ paid: true }))
})

test('a limit of the author ends the conversation, which stays ended', async () => {
  const bench = await openGate({}, clientAgent({ limits: { max_loop_iterations: 2 } }))
  await make(bench, callOf('a', 'look'))
  await make(bench, callOf('b', 'look'))
  expect(await make(bench, callOf('c', 'look'))).toMatchObject({
    at: 'stopped',
    message: expect.stringContaining('max_loop_iterations'),
  })
  await expect(make(bench, callOf('d', 'look'))).rejects.toThrow('The conversation c-1 has ended')
  expect(bench.invoked).toHaveLength(2)
})

test('a limit that an operator may extend holds the call, which goes on with the grant', async () => {
  const bench = await openGate({}, clientAgent({ limits: { max_loop_iterations: 1, on_limit: 'escalate' } }))
  await make(bench, callOf('a', 'look'))
  const asked = await make(bench, callOf('b', 'look'))
  const task = await taskOf(bench, asked)
  expect(asked).toMatchObject({ at: 'asking', taskId: task.id })
  await expect(make(bench, callOf('c', 'look'))).rejects.toThrow('an operator decides whether it goes on')
  await bench.engine.answer(task.runId, { taskId: task.id, by: operator(), approved: true })
  expect(stateOf(await make(bench, callOf('b', 'look')))).toEqual(settled('seen'))
})

test('a default bound of turns does not end a client that calls more often', async () => {
  const bench = await openGate()
  let last: ClientCallAnswer | undefined
  for (let at = 0; at < 105; at++) last = await make(bench, callOf(`l${at}`, 'look', { at }))
  expect(await bench.store.run(last!.runId)).toMatchObject({ status: 'Running', usage: { iterations: 105 } })
})

test('a cancelled conversation makes no more calls', async () => {
  const bench = await openGate()
  const asked = await make(bench, callOf('p', 'pay', { amount: 5 }))
  await bench.engine.cancel(asked.runId, operator())
  expect(await make(bench, callOf('p', 'pay', { amount: 5 }))).toMatchObject({ at: 'stopped' })
  await expect(make(bench, callOf('l', 'look'))).rejects.toThrow('has ended')
})

test('conversations of different principals and names are different sessions', async () => {
  const bench = await openGate()
  const others: Partial<ClientCall>[] = [
    {},
    { conversation: 'c-2' },
    { principal: key('k2', 'desk') },
    { principal: operator() },
  ]
  const answers = await Promise.all(others.map((more) => make(bench, callOf('a', 'look', {}, more))))
  expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(4)
})

test('nothing but a client runs its agent, and a client no other agent', async () => {
  const desk = clientAgent()
  const root = snapshotOf({ name: 'root', agents: [boundAgent(desk)] })
  const bench = await openGate({}, desk, {
    agents: [desk, root],
    models: { root: inOrder({ calls: [{ name: 'desk', args: { message: 'go' } }] }, 'Done.') },
  })
  await expect(bench.start('desk')).rejects.toThrow('acme.desk stands for a client')
  const plain = { agentId: agentIdOf('test', 'acme.root') }
  await expect(make(bench, callOf('a', 'look', {}, plain))).rejects.toThrow('acme.root has a model of its own')
  await expect(
    bench.engine.gate.listTools({ ...callOf('a', 'look'), ...plain }, AbortSignal.timeout(1000)),
  ).rejects.toThrow('model of its own')
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const result = (await bench.timeline(run)).find(({ type }) => type === 'ToolResult')!
  expect(result.content['result']).toMatchObject({ error: 'agent_external' })
  const { runId } = await make(bench, callOf('a', 'look'))
  expect(await bench.engine.answer(runId, { by: operator(), text: 'Stop.', steer: true })).toMatchObject({
    code: 'agent_external',
  })
})

test.each(['', 'x'.repeat(201), 'a\0b', '\ud800'])(
  'a name that a client must not give is refused: %j',
  async (name) => {
    const bench = await openGate()
    await expect(make(bench, callOf(name, 'look'))).rejects.toThrow('callId must be text')
    await expect(make(bench, callOf('a', 'look', {}, { conversation: name }))).rejects.toThrow(
      'conversation must be text',
    )
    expect((await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 9 })).items).toEqual([])
  },
)

test('an open conversation outlasts a restart', async () => {
  const bench = await openGate()
  const { sessionId, runId } = await make(bench, callOf('a', 'look'))
  await bench.restart()
  expect(await make(bench, callOf('b', 'look'))).toMatchObject({ sessionId, runId, at: 'settled' })
  await bench.advance(HOUR)
  expect(await bench.store.session(sessionId as SessionId)).toMatchObject({ status: 'Completed' })
})
