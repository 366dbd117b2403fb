import { expect, test } from 'vitest'
import type { TaskId } from '../../src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  inOrder,
  key,
  openBench,
  operator,
  policy,
  reply,
  returns,
  snapshotOf,
  tool,
  turns,
  type Model,
  type ModelReply,
} from './bench.ts'

const look = tool('look')
const { inputSchema: _, ...undescribed } = look
const plainTool = { ...undescribed, inputSchemas: [] }
const post = tool('post', { sideEffectClass: 'non_idempotent_write' })
const pay = tool('pay', { sideEffectClass: 'irreversible_action' })
const unknown: ToolOutcome = { at: 'unknown', code: 'timeout', error: 'No answer within 60 s.' }

/** Plays the turns, then says what the last tool message was. */
const echo =
  (...said: ModelReply[]): Model =>
  (request) => {
    const given = said[request.run.turn - 1]
    if (given !== undefined) return given
    const last = request.messages.findLast((message) => message.role === 'tool')
    return last?.role === 'tool' ? last.content : 'nothing'
  }

const outputOf = async (
  bench: Awaited<ReturnType<typeof openBench>>,
  run: Awaited<ReturnType<typeof bench.start>>,
): Promise<JsonObject> => {
  await bench.waitForEnd(run)
  return JSON.parse((await bench.store.run(run))!.output as string) as JsonObject
}

test('sends unsafe calls of a run one at a time, and safe ones in parallel', async () => {
  const open: string[] = []
  const release: (() => void)[] = []
  const slow = ({ tool: { wire }, arguments: args }: { tool: { wire: string }; arguments: unknown }) => {
    open.push(`${wire} ${JSON.stringify(args)}`)
    return new Promise<ToolOutcome>((resolve) => release.push(() => resolve(returns('ok'))))
  }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look, post] })],
    models: {
      root: inOrder(
        {
          calls: [
            { name: 'post', args: { n: 1 } },
            { name: 'post', args: { n: 2 } },
            { name: 'look', args: { n: 3 } },
            { name: 'look', args: { n: 4 } },
          ],
        },
        'Done.',
      ),
    },
    tools: { look: slow, post: slow },
  })
  const run = await bench.start('root')
  await turns()
  expect(open).toEqual(['post {"n":1}', 'look {"n":3}', 'look {"n":4}'])
  release[0]!()
  await turns()
  expect(open).toEqual(['post {"n":1}', 'look {"n":3}', 'look {"n":4}', 'post {"n":2}'])
  for (const each of release) each()
  await bench.waitForEnd(run)
})

test('runs ungated calls while a gated one waits', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look, pay] })],
    models: { root: inOrder({ calls: [{ name: 'pay' }, { name: 'look' }] }, 'Done.') },
    tools: { look: () => returns('seen'), pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await turns()
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['look'])
  expect((await bench.store.run(run))!.status).toBe('WaitingForHITL')
  await bench.engine.answer(run, reply(task))
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['look', 'pay'])
})

test('requires an approval for an unsafe call that is made a second time', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [post] })],
    models: {
      root: inOrder(
        { calls: [{ name: 'post', args: { a: 1, b: 2 } }] },
        { calls: [{ name: 'post', args: { b: 2, a: 1 } }] },
        'Done.',
      ),
    },
    tools: { post: () => returns('ok') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'approval', reason: 'duplicate_call' })
  expect(bench.invoked).toHaveLength(1)
  await bench.engine.answer(run, reply(task))
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(2)
})

test('allows another attempt of an unsafe call that certainly failed', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [post] })],
    models: { root: inOrder({ calls: [{ name: 'post' }] }, { calls: [{ name: 'post' }] }, 'Done.') },
    tools: { post: () => returns('no', true) },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(2)
})

test('sends a safe call without an outcome again with the same key, then returns the error to the model', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look] })],
    models: { root: echo({ calls: [{ name: 'look' }] }) },
    tools: { look: () => unknown },
  })
  const run = await bench.start('root')
  expect(await outputOf(bench, run)).toEqual({ error: 'dispatch:timeout', message: 'No answer within 60 s.' })
  expect(bench.invoked.map((each) => [each.attempt, each.idempotencyKey])).toEqual(
    [1, 2, 3].map((attempt) => [attempt, `svc:${run}:1:0`]),
  )
})

const MAX_OUTAGE_MS = 600_000
const unreachable: ToolOutcome = { at: 'not_sent', code: 'unreachable', error: 'Nobody listens there.' }

test('still treats a call as possibly executed when its later attempts are not sent for as long as is allowed', async () => {
  const put = tool('put', { sideEffectClass: 'idempotent_write' })
  const outcomes = [unknown]
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [put] }), maxOutageMs: MAX_OUTAGE_MS }],
    models: { root: echo({ calls: [{ name: 'put' }] }) },
    tools: { put: () => outcomes.shift() ?? unreachable },
  })
  const run = await bench.start('root')
  await bench.advance(MAX_OUTAGE_MS)
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'anomaly_review', reason: 'Nobody listens there.' })
  expect(new Set(bench.invoked.map((each) => each.idempotencyKey))).toEqual(new Set([`svc:${run}:1:0`]))
  await bench.engine.answer(run, reply(task, { by: operator(), selectedOptionId: 'happened', textValue: '{"done":1}' }))
  expect(await outputOf(bench, run)).toEqual({ done: 1 })
})

test('executes a call on the third attempt when the second is not sent', async () => {
  const put = tool('put', { sideEffectClass: 'idempotent_write' })
  const outcomes = [unknown, unreachable, returns({ done: 1 })]
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [put] })],
    models: { root: echo({ calls: [{ name: 'put' }] }) },
    tools: { put: () => outcomes.shift()! },
  })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(await outputOf(bench, run)).toEqual({ done: 1 })
})

const uncertain = async (models: ModelReply[] = []) => {
  const outcomes: ToolOutcome[] = [unknown, returns({ id: 'p2' })]
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay] })],
    models: { root: echo({ calls: [{ name: 'pay', args: { n: 1 } }] }, ...models) },
    tools: { pay: () => outcomes.shift()! },
  })
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run, 1)))
  return { bench, run, review: await bench.waitForTask(run, 2) }
}

test('asks an operator about an irreversible call without an outcome, and does not send it again on its own', async () => {
  const { bench, run, review } = await uncertain()
  expect(review).toMatchObject({
    kind: 'anomaly_review',
    completable_via: ['operator'],
    reason: 'No answer within 60 s.',
    arguments: { n: 1 },
  })
  // Which process sent it is for operators: it is kept with the task, and shown by the operator's routes alone.
  expect(review['context']).toEqual({
    idempotency_key: `svc:${run}:1:0`,
    attempt: 1,
    sent_at: '2026-01-01T00:00:00.000Z',
    not_after: '2026-01-01T00:01:00.000Z',
  })
  expect((await bench.store.task(review['user_task_id'] as TaskId))!.worker).toBe('host:7')
  expect((review['options'] as { id: string }[]).map((option) => option.id)).toEqual([
    'happened',
    'retry',
    'skip',
    'stop',
  ])
  expect(await bench.engine.answer(run, reply(review, { by: key(), selectedOptionId: 'skip' }))).toMatchObject({
    code: 'operator_only',
  })
  expect(await bench.engine.answer(run, reply(review, { by: operator(), approved: true }))).toMatchObject({
    code: 'invalid_value',
  })
  await bench.advance(3_600_000)
  expect(bench.invoked).toHaveLength(1)
})

test("happened returns the operator's result to the model", async () => {
  const { bench, run, review } = await uncertain()
  await bench.engine.answer(
    run,
    reply(review, { by: operator(), selectedOptionId: 'happened', metadata: { 'svc/result': { id: 'p1' } } }),
  )
  expect(await outputOf(bench, run)).toEqual({ id: 'p1' })
  expect(bench.invoked).toHaveLength(1)
})

test('retry waits until the first attempt can no longer arrive, and needs a new approval', async () => {
  const { bench, run, review } = await uncertain()
  const retry = reply(review, { by: operator(), selectedOptionId: 'retry' })
  expect(await bench.engine.answer(run, retry)).toMatchObject({ code: 'invalid_value' })
  await bench.advance(62_999)
  expect(await bench.engine.answer(run, retry)).toMatchObject({
    code: 'invalid_value',
    error: 'The first attempt may still arrive until 2026-01-01T00:01:03.000Z; send it again after that.',
  })
  await bench.advance(1)
  expect(await bench.engine.answer(run, retry)).toMatchObject({
    status: 'WaitingForHITL',
    userTaskId: review['user_task_id'],
    pending: [{ kind: 'approval', votes: { have: 0, need: 1 } }],
  })
  const approval = await bench.waitForTask(run, 3)
  expect(approval).toMatchObject({ kind: 'approval' })
  await bench.engine.answer(run, reply(approval))
  expect(await outputOf(bench, run)).toEqual({ id: 'p2' })
  expect(bench.invoked.map((each) => [each.attempt, each.idempotencyKey])).toEqual(
    [1, 2].map((attempt) => [attempt, `svc:${run}:1:0`]),
  )
})

test('skip tells the model that a person decided', async () => {
  const { bench, run, review } = await uncertain()
  await bench.engine.answer(run, reply(review, { by: operator(), selectedOptionId: 'skip' }))
  expect(await outputOf(bench, run)).toEqual({ error: 'not_executed', message: 'Not executed, decided by a person.' })
})

test('stop fails the run', async () => {
  const { bench, run, review } = await uncertain()
  await bench.engine.answer(run, reply(review, { by: operator(), selectedOptionId: 'stop' }))
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'tool_failed' })
})

test.each([
  ['a name that nothing is bound to', { name: 'nope' }, 'unknown_tool'],
  ['arguments that do not fit the schema', { name: 'look', args: { n: 'x' } }, 'invalid_arguments'],
  ['arguments that are no JSON', { name: 'look', args: { $unparsed: '{' } }, 'invalid_arguments'],
  ['a tool that nothing handles', { name: 'post' }, 'dispatch:no_handler'],
])('%s is a tool error', async (_, call, error) => {
  const strict = tool('look', { inputSchemas: [{ type: 'object', properties: { n: { type: 'number' } } }] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [strict, post] })],
    models: { root: echo({ calls: [call] }) },
    tools: { look: () => returns('seen') },
  })
  expect(await outputOf(bench, await bench.start('root'))).toMatchObject({ error })
  expect(bench.invoked).toEqual([])
})

test.each<[JsonValue, string, string]>([
  [{ $unparsed: '{"to": "x", "amount": 9007199254740993}' }, '/amount', '9007199254740993'],
  [{ $unparsed: '[1e400]' }, '/0', '1e400'],
  [{ amount: [2 ** 53] }, '/amount/0', '9007199254740992'],
])('arguments %j have a number that would be changed: the call is not made', async (args, path, written) => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: { root: echo({ calls: [{ name: 'look', args }] }) },
    tools: { look: () => returns('seen') },
  })
  const message = `is the number ${written}, which cannot be kept exactly: numbers have at most 17 digits and go to 9007199254740991; write it as text`
  expect(await outputOf(bench, await bench.start('root'))).toEqual({
    error: 'invalid_arguments',
    message: 'The arguments of look are not valid.',
    details: [{ path, message }],
  })
  expect(bench.invoked).toEqual([])
})

test('checks arguments against the schema of the tool server where the document has none', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [plainTool] })],
    models: { root: echo({ calls: [{ name: 'look', args: { n: 'x' } }] }) },
    tools: { look: () => returns('seen') },
    described: {
      look: { description: '', schema: { type: 'object', properties: { n: { type: 'number' } } } },
    },
  })
  expect(await outputOf(bench, await bench.start('root'))).toEqual({
    error: 'invalid_arguments',
    message: 'The arguments of look are not valid.',
    details: [{ path: '/n', message: 'must be number' }],
  })
  expect(bench.invoked).toEqual([])
})

test('a result that does not fit its schema says that the call was executed', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [tool('look', { outputSchema: { type: 'object', required: ['id'] } })] }),
    ],
    models: { root: echo({ calls: [{ name: 'look' }] }) },
    tools: { look: () => returns({}) },
  })
  expect(await outputOf(bench, await bench.start('root'))).toMatchObject({
    error: 'invalid_result',
    message: 'look was executed, but its result does not match its output schema.',
  })
})

test('routes a call without a handler to a person if a policy tests svc.dispatch', async () => {
  const routing = policy('route', {
    effect: 'escalate',
    when: { field: 'svc.dispatch.trigger', op: 'eq', value: 'no_handler' },
  })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look], policies: [{ on: ['look'], entry: routing }] })],
    models: { root: echo({ calls: [{ name: 'look' }] }) },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'escalation', tool: { name: 'look' } })
  await bench.engine.answer(run, reply(task, { by: operator(), approved: false }))
  expect(await outputOf(bench, run)).toMatchObject({ error: 'rejected' })
})

test.each([
  ['timeout', 'timeout'],
  ['broken', 'indeterminate'],
] as const)('a read that ended with %s is routed to a person by a policy that tests for %s', async (code, trigger) => {
  const routing = policy('route', {
    effect: 'escalate',
    when: { field: 'svc.dispatch.trigger', op: 'eq', value: trigger },
  })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look], policies: [{ on: ['look'], entry: routing }] })],
    models: { root: echo({ calls: [{ name: 'look' }] }) },
    tools: { look: () => (bench.invoked.length > 3 ? returns('seen') : { at: 'unknown', code, error: 'Lost.' }) },
  })
  const run = await bench.start('root')
  await bench.advance(3000)
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'escalation', tool: { name: 'look' } })
  await bench.engine.answer(run, reply(task, { by: operator(), approved: true }))
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.output).toBe('seen')
  expect(bench.invoked.map((each) => each.attempt)).toEqual([1, 2, 3, 4])
})

test('trusts an idempotency key for a day from its first use, however often the call was repeated since', async () => {
  const put = tool('put', { sideEffectClass: 'idempotent_write' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [put] })],
    models: { root: inOrder({ calls: [{ name: 'put' }] }, 'Done.') },
    tools: { put: () => new Promise(() => {}) },
  })
  const run = await bench.start('root')
  await turns()
  for (const hours of [23, 23]) {
    bench.clock.set(bench.clock.now() + hours * 3600_000)
    await bench.restart()
    await turns()
  }
  expect(await bench.waitForTask(run)).toMatchObject({ kind: 'anomaly_review', context: { attempt: 2 } })
  expect(bench.invoked).toHaveLength(2)
  await bench.engine.cancel(run, key())
})

test.each(['cancelled', 'halted'])(
  'does not count a call that was never sent as executed once its run is %s',
  async (how) => {
    const window = policy('window', {
      effect: 'deny',
      when: { field: 'history.window.this_tool.executed', op: 'gt', value: 1, window: '10m' },
    })
    const gate = policy('gate', { when: { field: 'args.gated', op: 'eq', value: true, if_missing: false } })
    const limits = how === 'halted' ? { max_loop_iterations: 1 } : {}
    const bench = await openBench({
      agents: [
        snapshotOf({
          name: 'root',
          tools: [look, post],
          limits,
          policies: [
            { on: ['post'], entry: window },
            { on: ['post'], entry: gate },
          ],
        }),
      ],
      models: {
        root: ({ run }) =>
          run.input['gated'] === false
            ? run.turn === 1
              ? { calls: [{ name: 'post', args: { gated: false } }] }
              : 'Done.'
            : run.turn === 1 && how === 'halted'
              ? { calls: [{ name: 'look' }] }
              : { calls: [{ name: 'post', args: { gated: true } }] },
      },
      tools: { look: () => returns('seen'), post: () => returns('ok') },
    })
    const run = await bench.start('root')
    if (how === 'cancelled') {
      await bench.waitForTask(run)
      await bench.engine.cancel(run, key())
    }
    await bench.waitForEnd(run)
    await bench.waitForEnd(await bench.start('root', { gated: false }))
    expect(bench.invoked.filter((each) => each.tool.wire === 'post')).toHaveLength(1)
  },
)

test('counts calls that wait at the same time against a limit on their sum', async () => {
  const sum = policy('sum', { when: { field: 'history.session.this_tool.total(args.amount)', op: 'gt', value: 100 } })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [post], policies: [{ on: ['post'], entry: sum }] })],
    models: {
      root: inOrder(
        { calls: [{ name: 'post', args: { amount: 40 } }] },
        {
          calls: [
            { name: 'post', args: { amount: 30 } },
            { name: 'post', args: { amount: 31 } },
          ],
        },
        'Done.',
      ),
    },
    tools: { post: () => returns('ok') },
  })
  const run = await bench.start('root')
  // They are decided in their order: the first stays below the sum.
  expect((await bench.waitForTask(run))['arguments']).toEqual({ amount: 31 })
  expect(bench.invoked.map((each) => each.arguments)).toEqual([{ amount: 40 }, { amount: 30 }])
  await bench.engine.cancel(run, key())
})

test("counts calls of the agent's other runs in a window", async () => {
  const window = policy('window', {
    effect: 'deny',
    when: { field: 'history.window.this_tool.executed', op: 'gt', value: 1, window: '10m' },
  })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [post], policies: [{ on: ['post'], entry: window }] })],
    models: { root: inOrder({ calls: [{ name: 'post' }] }, 'Done.') },
    tools: { post: () => returns('ok') },
  })
  const runs = [await bench.start('root'), await bench.start('root')]
  for (const run of runs) await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
  await bench.advance(11 * 60_000)
  await bench.waitForEnd(await bench.start('root'))
  expect(bench.invoked).toHaveLength(2)
})

test('an approval does not outlive a policy that denies now', async () => {
  const shut = policy('hours', { effect: 'deny', when: { field: 'run.elapsed_seconds', op: 'gte', value: 0 } })
  const late = { ...shut, when: { field: 'session.elapsed_seconds', op: 'gte', value: 60 } }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], policies: [{ on: ['pay'], entry: late }] })],
    models: { root: echo({ calls: [{ name: 'pay' }] }) },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.advance(60_000)
  await bench.engine.answer(run, reply(task))
  expect(await outputOf(bench, run)).toMatchObject({ error: 'denied', message: 'because of hours' })
  expect(bench.invoked).toEqual([])
})
