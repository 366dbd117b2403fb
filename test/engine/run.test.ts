import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import { ProviderError } from '../../src/providers/provider.ts'
import {
  inOrder,
  key,
  openBench,
  operator,
  overloaded,
  policy,
  reply,
  replyTo,
  returns,
  snapshotOf,
  tool,
} from './bench.ts'

const transfer = tool('transfer', { sideEffectClass: 'irreversible_action' })
const look = tool('look')

test('completes the run with an answer without calls', async () => {
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: inOrder('Hello.') } })
  const run = await bench.start('root', { message: 'Hi' })
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'Hello.', error: null })
  const items = await bench.timeline(run)
  expect(items.map((item) => item.type)).toEqual([
    'UserMessage',
    'Reasoning',
    'Output',
    'RunCompleted',
    'SessionCompleted',
  ])
  expect(items[1]!.content).toMatchObject({
    text: 'Hello.',
    model: 'root-model',
    finish_reason: 'stop',
    usage: { input_tokens: 10, output_tokens: 10 },
    tool_calls: [],
    step_kind: 'Reasoning',
    run_id: run,
  })
  const session = (await bench.store.run(run))!.sessionId
  expect((await bench.store.events(session, 0, 100)).map((event) => `${event.seq} ${event.subject}`)).toEqual([
    '1 engine.session.started',
    '2 engine.run.started',
    '3 engine.step.completed',
    '4 engine.step.completed',
    '5 engine.step.completed',
    '6 engine.run.completed',
    '7 engine.session.completed',
  ])
})

test('sends an irreversible call only after its approval, and returns its result to the model', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look, transfer] })],
    models: {
      root: inOrder(
        { calls: [{ name: 'look', args: { order: 7 } }] },
        { calls: [{ name: 'transfer', args: { amount: 180 } }] },
        'Refunded.',
      ),
    },
    tools: { look: () => returns({ amount: 180 }), transfer: () => returns({ id: 'tr_1' }) },
  })
  const run = await bench.start('root', { order: 7 })
  const task = await bench.waitForTask(run)
  await bench.waitForEvent(run, (event) => event.subject === 'engine.session.paused')
  expect(task).toMatchObject({
    kind: 'approval',
    status: 'pending',
    tool: { name: 'transfer', ref: 'acme.transfer', version: '1.0.0', side_effect_class: 'irreversible_action' },
    arguments: { amount: 180 },
    approvals_required: 1,
    approvals_received: 0,
    completable_via: ['api', 'operator'],
  })
  expect((await bench.store.run(run))!.status).toBe('WaitingForHITL')
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['look'])

  expect(await bench.engine.answer(run, reply(task))).toEqual({
    status: 'Running',
    userTaskId: task['user_task_id'],
    pending: [],
  })
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => [each.tool.wire, each.idempotencyKey, each.attempt])).toEqual([
    ['look', `svc:${run}:1:0`, 1],
    ['transfer', `svc:${run}:2:0`, 1],
  ])
  const items = await bench.timeline(run)
  expect(items.map((item) => item.type)).toEqual([
    'UserMessage',
    'Reasoning',
    'PolicyDecision',
    'ToolCall',
    'ToolResult',
    'Reasoning',
    'PolicyDecision',
    'UserTaskReq',
    'UserTaskRes',
    'ToolCall',
    'ToolResult',
    'Reasoning',
    'Output',
    'RunCompleted',
    'SessionCompleted',
  ])
  expect(items[7]!.content).toMatchObject({ status: 'completed', approvals_received: 1 })
  expect(items[8]!.content).toMatchObject({ outcome: 'approved', approved: true, completed_by: 'key:k1' })
  expect((await bench.store.session((await bench.store.run(run))!.sessionId))!.totalTokensUsed).toBe(60)
})

test('does not execute a rejected call, and reports it to the model', async () => {
  const read: string[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [transfer] })],
    models: {
      root: ({ run, messages }) => {
        if (run.turn === 1) return { calls: [{ name: 'transfer', args: { amount: 1 } }] }
        const last = messages.at(-1)!
        read.push(last.role === 'tool' ? last.content : '')
        return 'Understood.'
      },
    },
    tools: { transfer: () => returns('done') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, reply(task, { approved: false, text: 'Too early' }))
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
  expect(JSON.parse(read[0]!)).toEqual({
    error: 'rejected',
    message: 'Not executed: rejected by a person. Reason: Too early. Do not repeat this call.',
  })
})

test('on_reject fail ends the run', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [transfer],
        policies: [{ on: ['transfer'], entry: policy('gate', { obligations: { on_reject: 'fail' } }) }],
      }),
    ],
    models: { root: inOrder({ calls: [{ name: 'transfer' }] }) },
    tools: { transfer: () => returns('done') },
  })
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run), { approved: false }))
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'transfer was not executed: rejected by a person.',
    errorCode: 'rejected',
  })
})

test('a quorum counts distinct approvers, and one rejection ends it', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [transfer],
        policies: [{ on: ['transfer'], entry: policy('two', { obligations: { approvals_required: 2 } }) }],
      }),
    ],
    models: {
      root: inOrder(
        {
          calls: [
            { name: 'transfer', args: { to: 'a' } },
            { name: 'transfer', args: { to: 'b' } },
          ],
        },
        'Done.',
      ),
    },
    tools: { transfer: () => returns('ok') },
  })
  const run = await bench.start('root')
  const [first, second] = [await bench.waitForTask(run, 1), await bench.waitForTask(run, 2)]
  const by = operator('ana')
  expect(await bench.engine.answer(run, replyTo(first, { by }))).toMatchObject({ status: 'WaitingForHITL' })
  expect(await bench.engine.answer(run, replyTo(first, { by }))).toMatchObject({ duplicate: true })
  expect(await bench.engine.answer(run, reply(first, { by, approved: false }))).toMatchObject({
    code: 'task_already_completed',
  })
  expect(bench.invoked).toEqual([])
  await bench.engine.answer(run, replyTo(first, { by: operator() }))
  await bench.engine.answer(run, replyTo(second, { by }))
  await bench.engine.answer(run, reply(second, { by: operator(), approved: false }))
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.arguments)).toEqual([{ to: 'a' }])
})

test('executes a call with edited arguments, and reports them to the model', async () => {
  const read: string[] = []
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [
          tool('transfer', {
            sideEffectClass: 'irreversible_action',
            inputSchemas: [{ type: 'object', properties: { amount: { type: 'number' } } }],
          }),
        ],
      }),
    ],
    models: {
      root: ({ run, messages }) => {
        if (run.turn === 1) return { calls: [{ name: 'transfer', args: { amount: 900 } }] }
        const last = messages.at(-1)!
        read.push(last.role === 'tool' ? last.content : '')
        return 'Done.'
      },
    },
    tools: { transfer: ({ arguments: args }) => returns(args) },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(
    await bench.engine.answer(run, reply(task, { metadata: { 'svc/arguments': { amount: 'much' } } })),
  ).toMatchObject({ code: 'invalid_value' })
  expect(
    await bench.engine.answer(run, reply(task, { metadata: { 'svc/arguments_digest': 'sha256:other' } })),
  ).toMatchObject({ code: 'arguments_changed' })
  await bench.engine.answer(run, reply(task, { metadata: { 'svc/arguments': { amount: 90 } } }))
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.arguments)).toEqual([{ amount: 90 }])
  expect(read).toEqual(['Executed with arguments that a person edited: {"amount":90}\n\n{"amount":90}'])
})

test('retries a failing model twice, then fails the run with its message', async () => {
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: () => overloaded } })
  const run = await bench.start('root')
  await bench.advance(10_000)
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    error: 'The model is overloaded.',
    errorCode: 'model_error',
  })
  expect((await bench.timeline(run)).filter((item) => item.type === 'Reasoning')).toHaveLength(3)
})

test('does not retry a model that fails permanently', async () => {
  const refused = new ProviderError('No such model.', { status: 404, retryable: false })
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: () => refused } })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', error: 'No such model.' })
})

test('aborts effects in flight on cancel, and keeps a terminal status', async () => {
  let calledOff = false
  let asked = (): void => {}
  const underWay = new Promise<void>((resolve) => (asked = resolve))
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: {
      root: (_, signal) =>
        new Promise((_resolve, reject) => {
          asked()
          signal.addEventListener('abort', () => {
            calledOff = true
            reject(new Error('aborted'))
          })
        }),
    },
  })
  const run = await bench.start('root')
  await underWay
  expect(await bench.engine.cancel(run, key(), 'No longer needed')).toEqual({ runId: run, status: 'Cancelled' })
  expect(calledOff).toBe(true)
  expect(await bench.engine.cancel(run, key())).toEqual({ runId: run, status: 'Cancelled' })
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Cancelled',
    error: 'No longer needed',
    errorCode: 'cancelled',
  })
})

test('requests no completion and counts no tokens for a run cancelled before its first', async () => {
  let asked = 0
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: () => `Answer ${++asked}` } })
  const run = await bench.start('root')
  expect(await bench.engine.cancel(run, key())).toEqual({ runId: run, status: 'Cancelled' })
  expect(asked).toBe(0)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Cancelled', usage: { inputTokens: 0, outputTokens: 0 } })
})

test('reads a session again that another writer has saved, and loses or repeats nothing', async () => {
  let refusals = 2
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [transfer] })],
    models: { root: inOrder({ calls: [{ name: 'transfer' }] }, 'Done.') },
    tools: { transfer: () => returns('ok') },
    store: (store) => ({
      ...store,
      save: (turn, ...more) =>
        refusals-- > 0
          ? Promise.reject(fail('run_moved_on', { sessionId: turn.session.id, seen: turn.session.version }))
          : store.save(turn, ...more),
    }),
  })
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run)))
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
  expect((await bench.timeline(run)).filter((item) => item.type === 'Reasoning')).toHaveLength(2)
})
