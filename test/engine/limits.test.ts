import { expect, test } from 'vitest'
import type { RunStatusName } from '../../src/spec/run/run.ts'
import { boundAgent, inOrder, openBench, operator, policy, reply, returns, snapshotOf, startOf, tool } from './bench.ts'

const look = tool('look')
const pay = tool('pay', { sideEffectClass: 'irreversible_action' })
const looking = { calls: [{ name: 'look' }] }

test('does not execute calls beyond the iteration limit, and fails the run with that reason', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look], limits: { max_loop_iterations: 2 } })],
    models: { root: () => looking },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(2)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    errorCode: 'limit_exceeded',
    error: 'The limit max_loop_iterations of 2 is reached: 2 used.',
  })
  expect((await bench.timeline(run)).find((item) => item.type === 'LimitReached')!.content).toMatchObject({
    limit: 'max_loop_iterations',
    value: 2,
    used: 2,
    action: 'halt',
  })
})

test('stops a run without a limit after 100 iterations', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look] })],
    models: { root: () => looking },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(100)
})

test('an operator grants the same amount again, once per approval, and a rejection fails the run', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look], limits: { max_loop_iterations: 2, on_limit: 'escalate' } })],
    models: { root: () => looking },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  const first = await bench.waitForTask(run, 1)
  expect(first).toMatchObject({
    kind: 'escalation',
    completable_via: ['operator'],
    context: { limit: 'max_loop_iterations', value: 2, used: 2 },
  })
  expect(await bench.engine.answer(run, reply(first, { approved: true }))).toMatchObject({ code: 'operator_only' })
  expect(await bench.engine.answer(run, reply(first, { by: operator() }))).toMatchObject({ code: 'invalid_value' })
  await bench.engine.answer(run, reply(first, { by: operator(), approved: true }))
  const second = await bench.waitForTask(run, 2)
  expect(bench.invoked).toHaveLength(4)
  await bench.engine.answer(run, reply(second, { by: operator(), approved: false }))
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'limit_exceeded' })
})

test('counts the tokens of children', async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)], limits: { max_tokens_per_run: 90 } }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }], tokens: 10 }, 'Never said.'),
      child: inOrder({ text: 'Long.', tokens: 40 }),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'The limit max_tokens_per_run of 90 is reached: 100 used.',
  })
})

test('aborts a model that never answers when the time is up, and does not count waits for people', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], limits: { max_wall_clock_seconds: 60 } })],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay' }] } : new Promise(() => {})) },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.advance(3_600_000)
  expect((await bench.store.run(run))!.status).toBe<RunStatusName>('WaitingForHITL')
  await bench.engine.answer(run, reply(task))
  await bench.advance(59_000)
  expect((await bench.store.run(run))!.status).toBe<RunStatusName>('Running')
  await bench.advance(1_000)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'The limit max_wall_clock_seconds of 60 is reached: 60 used.',
  })
})

test('counts the waits of a whole run against their own budget', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], limits: { max_hitl_wait_minutes: 10 } })],
    models: {
      root: inOrder(
        { calls: [{ name: 'pay', args: { n: 1 } }] },
        { calls: [{ name: 'pay', args: { n: 2 } }] },
        'Done.',
      ),
    },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const first = await bench.waitForTask(run, 1)
  await bench.advance(6 * 60_000)
  await bench.engine.answer(run, reply(first))
  const second = await bench.waitForTask(run, 2)
  await bench.advance(3 * 60_000)
  expect((await bench.store.run(run))!.status).toBe<RunStatusName>('WaitingForHITL')
  await bench.advance(60_000)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'The limit max_hitl_wait_minutes of 10 is reached: 10 used.',
  })
  expect(await bench.engine.answer(run, reply(second))).toMatchObject({
    status: 'Failed',
    code: 'task_already_completed',
  })
  expect(bench.invoked).toHaveLength(1)
})

test('continues a wait beyond its budget when an operator grants more', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], limits: { max_hitl_wait_minutes: 10, on_limit: 'escalate' } })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const approval = await bench.waitForTask(run, 1)
  await bench.advance(10 * 60_000)
  const escalation = await bench.waitForTask(run, 2)
  await bench.engine.answer(run, reply(escalation, { by: operator(), approved: true }))
  await bench.advance(9 * 60_000)
  await bench.engine.answer(run, reply(approval))
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.status).toBe<RunStatusName>('Completed')
})

test('does not count the time of a limit task against the budget of the wait', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], limits: { max_hitl_wait_minutes: 10, on_limit: 'escalate' } })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await bench.waitForTask(run, 1)
  await bench.advance(10 * 60_000)
  const escalation = await bench.waitForTask(run, 2)
  await bench.advance(60 * 60_000)
  await bench.engine.answer(run, reply(escalation, { by: operator(), approved: true }))
  await bench.advance(9 * 60_000)
  const pending = async () => {
    const { sessionId } = (await bench.store.run(run))!
    return (await bench.store.tasksOfSession(sessionId)).filter((task) => task.status === 'pending')
  }
  expect((await pending()).map((task) => task.kind)).toEqual(['approval'])
  await bench.advance(60_000)
  expect((await pending()).map((task) => [task.kind, task.context?.['used']])).toEqual([
    ['approval', undefined],
    ['escalation', 20],
  ])
})

test('does not count the time of a limit task against the budget of a run whose children are held', async () => {
  const child = snapshotOf({ name: 'child', tools: [look] })
  const limits = { max_tokens_per_run: 40, max_hitl_wait_minutes: 10, on_limit: 'escalate' as const }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)], limits }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, 'End.'),
      child: inOrder(looking, 'Seen.'),
    },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.advance(60 * 60_000)
  const { sessionId } = (await bench.store.run(run))!
  expect((await bench.store.tasksOfSession(sessionId)).map((each) => each.context?.['limit'])).toEqual([
    'max_tokens_per_run',
  ])
  await bench.engine.answer(run, reply(task, { by: operator(), approved: true }))
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Completed',
    usage: { waitedMs: 0, heldMs: 3_600_000, waitingSince: null },
  })
})

const timed = (byDefault: 'deny' | 'allow' | 'escalate') =>
  openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [tool('put', { sideEffectClass: 'idempotent_write' })],
        policies: [
          {
            on: ['put'],
            entry: policy('gate', { obligations: { timeout: { after_minutes: 5, default: byDefault } } }),
          },
        ],
      }),
    ],
    models: { root: inOrder({ calls: [{ name: 'put' }] }, 'Done.') },
    tools: { put: () => returns('ok') },
  })

test.each([
  ['deny', 0, { outcome: 'timed_out', approved: false, completed_by: null }],
  ['allow', 1, { outcome: 'timed_out', approved: true, completed_by: null }],
] as const)('an approval that nobody gives in time is decided by its default: %s', async (byDefault, calls, answer) => {
  const bench = await timed(byDefault)
  const run = await bench.start('root')
  await bench.waitForTask(run)
  await bench.advance(5 * 60_000 - 1)
  expect((await bench.store.run(run))!.status).toBe<RunStatusName>('WaitingForHITL')
  await bench.advance(1)
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(calls)
  const items = await bench.timeline(run)
  expect(items.find((item) => item.type === 'UserTaskRes')!.content).toMatchObject(answer)
  expect(items.find((item) => item.type === 'UserTaskReq')!.content).toMatchObject({ status: 'expired' })
})

test('an answer of the moment in which an approval expires is the one that counts', async () => {
  const bench = await timed('allow')
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  bench.clock.set(bench.clock.now() + 3_600_000)
  const accepted = await bench.engine.answer(run, reply(task, { approved: false }))
  expect(accepted.error).toBeUndefined()
  await bench.advance(0)
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
  expect((await bench.store.tasksOfSession((await bench.store.run(run))!.sessionId))[0]!.answer).toMatchObject({
    outcome: 'rejected',
    approved: false,
  })
})

test('waits for an operator after the timeout of an approval escalates it', async () => {
  const bench = await timed('escalate')
  const run = await bench.start('root')
  const approval = await bench.waitForTask(run, 1)
  await bench.advance(5 * 60_000)
  const escalation = await bench.waitForTask(run, 2)
  expect(escalation).toMatchObject({ kind: 'escalation', completable_via: ['operator'] })
  expect(await bench.engine.answer(run, reply(approval))).toMatchObject({ code: 'task_already_completed' })
  await bench.engine.answer(run, reply(escalation, { by: operator(), approved: true }))
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
})

test('still requires the acknowledgement after a timeout escalates a task, and records the timeout', async () => {
  const obligations = { comprehension_required: true, timeout: { after_minutes: 5, default: 'escalate' as const } }
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [pay], policies: [{ on: ['pay'], entry: policy('gate', { obligations }) }] }),
    ],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await bench.waitForTask(run, 1)
  await bench.advance(5 * 60_000)
  const escalation = await bench.waitForTask(run, 2)
  const approval = reply(escalation, { by: operator(), approved: true })
  expect(await bench.engine.answer(run, approval)).toMatchObject({ code: 'acknowledgement_required' })
  await bench.engine.answer(run, { ...approval, metadata: { 'svc/acknowledged': true } })
  await bench.waitForEnd(run)
  const answers = (await bench.timeline(run)).filter((item) => item.type === 'UserTaskRes')
  expect(answers.map(({ content }) => [content['outcome'], content['approved'], content['completed_by']])).toEqual([
    ['timed_out', null, null],
    ['approved', true, 'operator:olga'],
  ])
})

test('an answer that comes before the timer fires is the word of a person, even after the time', async () => {
  const bench = await timed('deny')
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  bench.clock.set(bench.clock.now() + 5 * 60_000)
  expect(await bench.engine.answer(run, reply(task))).not.toHaveProperty('code')
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
})

test('the same call denied three times fails the run', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [pay],
        policies: [{ on: ['pay'], entry: policy('never', { effect: 'deny', message: 'Payments are closed.' }) }],
      }),
    ],
    models: { root: () => ({ calls: [{ name: 'pay', args: { n: 1 } }] }) },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'repeated_denial' })
  const denied = (await bench.timeline(run)).filter((item) => item.type === 'ToolResult')
  expect(denied).toHaveLength(3)
  expect(denied[0]!.content['result']).toEqual({
    error: 'denied',
    message: 'Payments are closed.',
    decision_id: expect.any(String) as string,
  })
  expect(bench.invoked).toEqual([])
})

test('a start beyond the limit of concurrent runs is refused and leaves nothing', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: { root: () => new Promise(() => {}) },
  })
  const limits = {
    ratePerMinute: null,
    ratePerDay: null,
    maxConcurrentRuns: 1,
    planRunsPerDay: null,
    planTokensPerDay: null,
    planCostPerDay: null,
  }
  const one = startOf('root', {}, { limits, triggerId: 't1' })
  await bench.engine.start(one)
  await expect(bench.engine.start(one)).rejects.toMatchObject({ code: 'concurrency_limited' })
  await bench.engine.close(0)
})

test.each([
  ['escalate', 'max_loop_iterations', 'WaitingForHITL'],
  ['require_approval', 'max_loop_iterations', 'WaitingForHITL'],
  ['escalate', 'max_tokens_per_run', 'Failed'],
  ['deny', 'max_loop_iterations', 'Failed'],
] as const)('a policy of type %s that tests svc.limit for %s: the run is %s', async (effect, limit, status) => {
  const entry = policy('routed', { effect, when: { field: 'svc.limit', op: 'eq', value: limit } })
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [look],
        limits: { max_loop_iterations: 2 },
        policies: [{ on: ['look'], entry }],
      }),
    ],
    models: { root: () => looking },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  const told = status === 'Failed' ? (await bench.waitForEnd(run)).data : await bench.waitForTask(run, 1)
  expect(told).toMatchObject(
    status === 'Failed' ? { status } : { kind: 'escalation', context: { limit, value: 2, used: 2 } },
  )
  expect(await bench.store.run(run)).toMatchObject({ status })
  expect(bench.invoked).toHaveLength(2)
})

test.each([
  ['granted', true, 'Completed'],
  ['refused', false, 'Failed'],
] as const)('children stop at a budget of their parent until more is %s', async (_, approved, status) => {
  let completions = 0
  const child = snapshotOf({ name: 'child', tools: [look] })
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        agents: [boundAgent(child)],
        limits: { max_tokens_per_run: 100, on_limit: 'escalate' },
      }),
      child,
    ],
    models: {
      root: inOrder({ calls: [1, 2].map((n) => ({ name: 'child', args: { message: `${n}` } })) }, 'End.'),
      child: ({ run }) => {
        completions++
        return run.turn < 4 ? looking : 'Seen.'
      },
    },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.advance(0)
  // 20 of its own and 20 for each completion below it: the fourth uses up what there is.
  expect(completions).toBe(4)
  expect(task).toMatchObject({ kind: 'escalation', context: { limit: 'max_tokens_per_run', value: 100, used: 100 } })
  const { sessionId } = (await bench.store.run(run))!
  expect((await bench.store.runsOfSession(sessionId)).map((each) => each.status)).toEqual([
    'WaitingForHITL',
    'WaitingForHITL',
    'WaitingForHITL',
  ])
  expect((await bench.store.tasksOfSession(sessionId)).map((each) => each.runId)).toEqual([run])
  await bench.engine.answer(run, reply(task, { by: operator(), approved }))
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.status).toBe(status)
  // Eight of the children and two of the root are within twice the budget.
  expect(completions).toBe(approved ? 8 : 4)
  expect((await bench.store.tasksOfSession(sessionId)).map((each) => each.status)).toEqual(['completed'])
})
