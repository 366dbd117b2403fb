/**
 * What ends a run ends all that is below it in the same move: no call is begun, no approval taken and no model asked any more,
 * and what is in flight is told to stop.
 */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { GivenAnswer, TaskRecord } from '../../src/spec/task.ts'
import {
  boundAgent,
  inOrder,
  openBench,
  operator,
  policy,
  returns,
  snapshotOf,
  tool,
  turns,
  type Bench,
  type ModelReply,
} from './bench.ts'

const look = tool('look')
const pay = tool('pay', { sideEffectClass: 'irreversible_action' })
const post = tool('post', { sideEffectClass: 'non_idempotent_write' })
const [gated, timed, turned, lost] = [tool('gated'), tool('timed'), tool('turned'), tool('lost')]
const POLICIES = [
  { on: ['gated'], entry: policy('gate', { obligations: { on_reject: 'fail' } }) },
  {
    on: ['timed'],
    entry: policy('hurry', { obligations: { on_reject: 'fail', timeout: { after_minutes: 1, default: 'deny' } } }),
  },
  { on: ['turned'], entry: policy('turn', {}) },
  {
    on: ['lost'],
    entry: policy('unhandled', {
      when: { field: 'svc.dispatch.trigger', op: 'eq', value: 'no_handler' },
      obligations: { on_reject: 'fail' },
    }),
  },
]
const delegation = (name: string) => ({ name, args: { message: 'go' } })

interface Scene {
  readonly bench: Bench
  readonly run: RunId
  /** The task of the call that is fatal, where a person is asked about it. */
  readonly task: TaskRecord | undefined
}

interface Fatal {
  readonly name: string
  /** What the root calls beside a look that takes long and children that are at work. */
  readonly call: string
  readonly limits?: AgentSnapshot['limits']
  readonly strike: (scene: Scene) => Promise<unknown>
  readonly status?: 'Cancelled'
  readonly errorCode: string
  readonly error: string
}

const answer = ({ bench, run, task }: Scene, given: Partial<GivenAnswer>): Promise<unknown> =>
  bench.engine.answer(run, { taskId: task!.id, by: operator(), ...given })
const reject = (scene: Scene): Promise<unknown> => answer(scene, { approved: false })
const aMinute = ({ bench }: Scene): Promise<unknown> => bench.advance(60_000)

const FATAL: readonly Fatal[] = [
  {
    name: 'a rejection with on_reject fail',
    call: 'gated',
    strike: reject,
    errorCode: 'rejected',
    error: 'gated was not executed: rejected by a person.',
  },
  {
    name: 'an approval that nobody gave in time, with on_reject fail',
    call: 'timed',
    strike: aMinute,
    errorCode: 'rejected',
    error: 'timed was not executed: nobody approved it in time.',
  },
  {
    name: 'a third rejection of the same call',
    call: 'turned',
    strike: reject,
    errorCode: 'repeated_denial',
    error: 'turned was refused 3 times with the same arguments.',
  },
  {
    name: 'a call that nothing handles, routed to a person who rejects it',
    call: 'lost',
    strike: reject,
    errorCode: 'rejected',
    error: 'lost was not executed: rejected by a person.',
  },
  {
    name: 'an unknown outcome over which a person stops the run',
    call: 'post',
    strike: (scene) => answer(scene, { selectedOptionId: 'stop' }),
    errorCode: 'tool_failed',
    error: 'The outcome of post is unknown, and a person stopped the run.',
  },
  {
    name: 'the wait budget that halts',
    call: 'look',
    limits: { max_hitl_wait_minutes: 1 },
    strike: aMinute,
    errorCode: 'limit_exceeded',
    error: 'The limit max_hitl_wait_minutes of 1 is reached: 1 used.',
  },
  {
    name: 'an operator who grants no more',
    call: 'look',
    limits: { max_hitl_wait_minutes: 1, on_limit: 'escalate' },
    async strike(scene) {
      await aMinute(scene)
      await reject({ ...scene, task: await pendingOf(scene.bench, scene.run) })
    },
    errorCode: 'limit_exceeded',
    error: 'The limit max_hitl_wait_minutes is reached, and an operator granted no more.',
  },
  {
    name: 'the tokens that a child used up',
    call: 'spend',
    limits: { max_tokens_per_run: 5000 },
    strike: ({ bench }) => bench.advance(1000),
    errorCode: 'limit_exceeded',
    error: 'The limit max_tokens_per_run of 5000 is reached: 12040 used.',
  },
  {
    name: 'a cancel',
    call: 'look',
    strike: ({ bench, run }) => bench.engine.cancel(run, operator()),
    status: 'Cancelled',
    errorCode: 'cancelled',
    error: 'Cancelled.',
  },
]

const pendingOf = async (bench: Bench, run: RunId): Promise<TaskRecord | undefined> =>
  (await bench.store.tasksOfSession((await bench.store.run(run))!.sessionId)).find(
    (task) => task.status === 'pending' && task.runId === run,
  )

test.each(FATAL)('$name ends everything else of the run at once', async ({ call, limits, strike, ...end }) => {
  const payer = snapshotOf({ name: 'payer', tools: [pay] })
  const thinker = snapshotOf({ name: 'thinker' })
  const tools = [look, post, gated, timed, turned, lost]
  const again = call === 'turned' ? [1, 2] : []
  let spend = (): void => {}
  const spender = snapshotOf({ name: 'spend' })
  let release = (): void => {}
  const stopped: AbortSignal[] = []
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools,
        agents: [boundAgent(payer), boundAgent(thinker), boundAgent(spender)],
        policies: POLICIES,
        ...(limits && { limits }),
      }),
      payer,
      thinker,
      spender,
    ],
    models: {
      root: inOrder(...again.map((): ModelReply => ({ calls: [{ name: call }] })), {
        calls: [
          { name: 'look', args: { slow: true } },
          delegation('payer'),
          delegation('thinker'),
          call === 'spend' ? delegation(call) : { name: call },
        ],
      }),
      payer: inOrder({ calls: [{ name: 'pay' }] }),
      thinker: () => ({ text: 'Ten so far', after: 'silence' }),
      spend: () => new Promise((resolve) => (spend = () => resolve({ text: 'So.', tokens: 6000 }))),
    },
    tools: {
      look: ({ arguments: given }, signal) => {
        if ((given as JsonObject)['slow'] !== true) return returns('seen')
        stopped.push(signal)
        return new Promise((resolve) => (release = () => resolve(returns('seen'))))
      },
      pay: () => returns('paid'),
      post: () => ({ at: 'unknown', code: 'timeout', error: 'No answer within 60 s.' }),
      gated: () => returns('done'),
      timed: () => returns('done'),
      turned: () => returns('done'),
    },
  })
  const run = await bench.start('root')
  for (const _ of again) {
    await turns()
    await reject({ bench, run, task: await pendingOf(bench, run) })
  }
  await turns()
  const { sessionId } = (await bench.store.run(run))!
  const payment = (await bench.store.tasksOfSession(sessionId)).find(({ tool: asked }) => asked?.name === 'pay')!
  expect([payment.status, stopped.map((signal) => signal.aborted)]).toEqual(['pending', [false]])
  spend()
  await strike({ bench, run, task: await pendingOf(bench, run) })
  await turns()

  const { status = 'Failed', errorCode, error } = end
  expect(await bench.store.run(run)).toMatchObject({ status, errorCode, error })
  const below = (await bench.store.runsOfSession(sessionId)).filter(
    ({ id, agentName }) => id !== run && agentName !== 'acme.spend',
  )
  expect(below.map((each) => [each.agentName, each.status, each.error])).toEqual([
    ['acme.payer', 'Cancelled', 'The run that asked for it ended.'],
    ['acme.thinker', 'Cancelled', 'The run that asked for it ended.'],
  ])
  // What the called off completion had used is booked.
  expect(below[1]!.usage.outputTokens).toBe(3)
  expect(stopped.map((signal) => signal.aborted)).toEqual([true])
  expect(await bench.engine.answer(run, { taskId: payment.id, approved: true, by: operator() })).toMatchObject({
    status,
    code: 'task_already_completed',
  })
  expect((await bench.store.tasksOfSession(sessionId)).filter((task) => task.status === 'pending')).toEqual([])
  expect((await bench.store.stepsOfSession(sessionId)).filter((step) => step.finishedAt === null)).toEqual([])
  expect(bench.busySessions()).toEqual([])
  expect(await bench.store.nextTimerAt()).toBeUndefined()
  const events = await bench.store.events(sessionId, 0, 1000)
  expect(events.at(-1)!.subject).toBe(`engine.session.${status.toLowerCase()}`)

  // The call in flight returns all the same: that is booked, and nothing else is said of a run that has ended.
  const stateOfLook = async (): Promise<string | undefined> =>
    (await bench.store.calls({ sessionId })).find((row) => (row.arguments as JsonObject)['slow'] === true)?.state
  expect(await stateOfLook()).toBe('unknown')
  release()
  await turns()
  expect(await stateOfLook()).toBe('executed')
  expect(await bench.store.events(sessionId, 0, 1000)).toEqual(events)
  expect(bench.invoked.map((each) => each.tool.wire)).not.toContain('pay')
})

test('sends no call of a completion in which one fails the run on authorization', async () => {
  const denied = { name: 'denied' }
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [look, tool('denied')],
        agents: [boundAgent(child)],
        policies: [{ on: ['denied'], entry: policy('never', { effect: 'deny' }) }],
      }),
      child,
    ],
    models: {
      root: inOrder(
        { calls: [denied] },
        { calls: [denied] },
        { calls: [{ name: 'look' }, delegation('child'), denied] },
      ),
      child: () => 'Never asked.',
    },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  await turns()
  expect(bench.invoked).toEqual([])
  const { sessionId } = (await bench.store.run(run))!
  const rows = await bench.store.calls({ sessionId })
  expect(rows.map(({ ref, state }) => [ref, state])).toEqual([
    ['acme.denied', 'denied'],
    ['acme.denied', 'denied'],
    ['acme.look', 'skipped'],
    ['acme.child', 'delegated'],
    ['acme.denied', 'denied'],
  ])
  expect((await bench.timeline(run)).find(({ type }) => type === 'ToolCall')).toMatchObject({
    content: { name: 'look' },
    error: 'The run ended first.',
  })
})

/** A root whose model thinks about a child's question while the child waits for an approval too. */
const thinkingBesideAChild = async (limits: AgentSnapshot['limits'], root: ModelReply) => {
  const child = snapshotOf({ name: 'child', tools: [pay] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)], limits }), child],
    models: {
      root: inOrder({ calls: [delegation('child')] }, root),
      child: inOrder({ calls: [{ name: 'ask_parent', args: { question: 'So?' } }, { name: 'pay' }] }),
    },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await turns()
  const { sessionId } = (await bench.store.run(run))!
  const [payment] = await bench.store.tasksOfSession(sessionId)
  return { bench, run, sessionId, payment: payment! }
}

test.each([
  ['halts', {}],
  ['is not granted again', { on_limit: 'escalate' }],
] as const)('a wait budget that %s books the completion that it calls off', async (_, onLimit) => {
  const { bench, run, sessionId, payment } = await thinkingBesideAChild(
    { max_hitl_wait_minutes: 1, ...onLimit },
    { text: 'Ten so far', after: 'silence' },
  )
  await bench.advance(60_000)
  const asked = await pendingOf(bench, run)
  if (asked) await reject({ bench, run, task: asked })
  const root = (await bench.store.run(run))!
  expect([root.status, root.errorCode, root.usage.outputTokens]).toEqual(['Failed', 'limit_exceeded', 10 + 3])
  expect((await bench.store.task(payment.id))!.status).toBe('cancelled')
  expect((await bench.store.runsOfSession(sessionId)).map((each) => each.status)).toEqual(['Failed', 'Cancelled'])
})

test('ends a child that waits for the answer of a model that fails', async () => {
  const { bench, run, sessionId, payment } = await thinkingBesideAChild({}, new Error('boom'))
  expect((await bench.store.runsOfSession(sessionId)).map((each) => each.status)).toEqual(['Failed', 'Cancelled'])
  expect(await bench.engine.answer(run, { taskId: payment.id, approved: true, by: operator() })).toMatchObject({
    status: 'Failed',
    code: 'task_already_completed',
  })
  await turns()
  expect(bench.invoked).toEqual([])
})

test('ends the descendants of such a sub-agent, and returns the error to its parent, which continues', async () => {
  const payer = snapshotOf({ name: 'payer', tools: [pay] })
  const middle = snapshotOf({
    name: 'middle',
    tools: [gated],
    agents: [boundAgent(payer)],
    policies: POLICIES.slice(0, 1),
  })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look], agents: [boundAgent(middle)] }), middle, payer],
    models: {
      root: inOrder({ calls: [{ name: 'look' }, delegation('middle')] }, 'Without it, then.'),
      middle: inOrder({ calls: [delegation('payer'), { name: 'gated' }] }),
      payer: inOrder({ calls: [{ name: 'pay' }] }),
    },
    tools: { look: () => returns('seen'), pay: () => returns('paid'), gated: () => returns('done') },
  })
  const run = await bench.start('root')
  await turns()
  const { sessionId } = (await bench.store.run(run))!
  const tasks = await bench.store.tasksOfSession(sessionId)
  const [refused, payment] = ['gated', 'pay'].map((name) => tasks.find((task) => task.tool?.name === name)!)
  await bench.engine.answer(run, { taskId: refused!.id, approved: false, by: operator() })
  await bench.waitForEnd(run)
  expect(
    (await bench.store.runsOfSession(sessionId)).map((each) => [each.agentName, each.status, each.errorCode]),
  ).toEqual([
    ['acme.root', 'Completed', null],
    ['acme.middle', 'Failed', 'rejected'],
    ['acme.payer', 'Cancelled', 'cancelled'],
  ])
  expect((await bench.store.task(payment!.id))!.status).toBe('cancelled')
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['look'])
})

test('a timer that cannot be applied fails its run, once, and no other waits for it', async () => {
  const down = () => ({ at: 'not_sent', code: 'unreachable', error: 'Nobody listens there.' }) as const
  const agent = snapshotOf({ name: 'root', tools: [look] })
  const bench = await openBench({
    agents: [agent],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, 'Done.') },
    tools: { look: down },
  })
  const run = await bench.start('root')
  await turns()
  Object.assign(bench.parts.tools, {
    route: () => {
      throw new Error('A bug of ours.')
    },
  })
  await bench.advance(60_000)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'internal' })
  expect(await bench.store.dueTimers(bench.clock.now(), 10)).toEqual([])
})
