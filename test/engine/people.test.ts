import { expect, test } from 'vitest'
import { digestOfJson } from '../../src/base/digest.ts'
import { createEngine } from '../../src/engine/open.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { Principal } from '../../src/spec/people/key.ts'
import type { GivenAnswer } from '../../src/spec/task.ts'
import {
  builtin,
  inOrder,
  key,
  openBench,
  operator,
  policy,
  reply,
  replyTo,
  returns,
  snapshotOf,
  T0,
  tool,
  turns,
  type Model,
} from './bench.ts'

const pay = tool('pay', { sideEffectClass: 'irreversible_action' })
const echoLastResult: Model = ({ messages }) => {
  const last = messages.findLast((message) => message.role === 'tool')
  return last?.role === 'tool' ? last.content : ''
}

const openGated = (obligations: NonNullable<Parameters<typeof policy>[1]['obligations']>) =>
  openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [pay], policies: [{ on: ['pay'], entry: policy('gate', { obligations }) }] }),
    ],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })

test('requires the acknowledgement of comprehension', async () => {
  const bench = await openGated({ comprehension_required: true })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ comprehension_required: true })
  expect(await bench.engine.answer(run, reply(task))).toMatchObject({
    status: 'WaitingForHITL',
    code: 'acknowledgement_required',
  })
  await bench.engine.answer(run, reply(task, { metadata: { 'svc/acknowledged': true } }))
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
})

test('refuses an approval in bulk of what cannot be undone, unless every policy that asks says svc/bulk', async () => {
  const bench = await openGated({})
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const inBulk = { metadata: { 'svc/bulk': true } }
  expect(await bench.engine.answer(run, reply(task, inBulk))).toMatchObject({
    status: 'WaitingForHITL',
    code: 'not_in_bulk',
    error:
      'This task is not approved together with others: its call cannot be undone, and no policy says svc/bulk: true.',
  })
  expect(bench.invoked).toHaveLength(0)
  expect(await bench.engine.answer(run, reply(task, { ...inBulk, approved: false }))).not.toHaveProperty('error')

  const open = await openGated({ bulk: true })
  const other = await open.start('root')
  const same = await open.waitForTask(other)
  expect(same).toMatchObject({ bulk: true })
  expect(await open.engine.answer(other, reply(same, inBulk))).not.toHaveProperty('error')
  await open.waitForEnd(other)
  expect(open.invoked).toHaveLength(1)
})

test('lets only operators with the required role decide', async () => {
  const bench = await openGated({ approver_role: 'finance' })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ completable_via: ['operator'] })
  expect(await bench.engine.answer(run, reply(task))).toMatchObject({ code: 'not_an_approver' })
  expect(await bench.engine.answer(run, reply(task, { by: operator('olga') }))).toMatchObject({
    code: 'not_an_approver',
  })
  await bench.engine.answer(run, reply(task, { by: operator('olga', ['finance']) }))
  await bench.waitForEnd(run)
})

test('refuses the decision of the person who started the run where duties are separated', async () => {
  const bench = await openGated({ separation_of_duties: true })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(await bench.engine.answer(run, reply(task, { by: key('k1') }))).toMatchObject({ code: 'not_an_approver' })
  await bench.engine.answer(run, reply(task, { by: key('k2') }))
  await bench.waitForEnd(run)
})

test('recognizes the person who started through a key of one command, with another such key and as an operator', async () => {
  const bench = await openGated({ separation_of_duties: true })
  const run = await bench.start('root', {}, { principal: key('k1', 'root', 'ana') })
  const task = await bench.waitForTask(run)
  for (const by of [key('k2', 'root', 'ana'), operator('ana')])
    expect(await bench.engine.answer(run, reply(task, { by }))).toMatchObject({ code: 'not_an_approver' })
  await bench.engine.answer(run, reply(task, { by: operator('ben') }))
  await bench.waitForEnd(run)
})

test('tells an approver who changes his mind that a vote is final, while the task waits for others', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, replyTo(task, { by: operator('k1') }))
  expect(await bench.engine.answer(run, reply(task, { by: operator('k1'), approved: false }))).toMatchObject({
    status: 'WaitingForHITL',
    code: 'task_already_completed',
    error: 'You have voted, and a vote is final; the task waits for others.',
  })
})

test('refuses an approval of arguments that the approver was not shown', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const code = async (answer: GivenAnswer): Promise<string | undefined> => (await bench.engine.answer(run, answer)).code
  // Several approve: each says what he saw, also who edits.
  expect(await code(reply(task, { by: operator('k1') }))).toBe('digest_required')
  const metadata = { 'svc/arguments': { n: 5000 } }
  expect(await code(reply(task, { by: operator('k2'), metadata }))).toBe('digest_required')
  expect(await code(replyTo(task, { by: operator('k2'), metadata }))).toBeUndefined()
  expect(await code(reply(task, { by: operator('k1') }))).toBe('digest_required')
  expect(await code(replyTo(task, { by: operator('k1') }))).toBe('arguments_changed')
  await turns()
  expect(bench.invoked).toEqual([])
  expect(await code(replyTo(task, { by: operator('k1') }, { n: 5000 }))).toBeUndefined()
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.arguments)).toEqual([{ n: 5000 }])
})

test('accepts a rejection without a digest, and it decides', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, replyTo(task, { by: operator('k2'), metadata: { 'svc/arguments': { n: 2 } } }))
  expect(await bench.engine.answer(run, reply(task, { by: operator('k1'), approved: false }))).not.toHaveProperty(
    'code',
  )
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
})

test('an edit voids earlier votes and counts as the vote of its author', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, replyTo(task, { by: operator('k1') }))
  await bench.engine.answer(run, replyTo(task, { by: operator('k2'), metadata: { 'svc/arguments': { n: 2 } } }))
  expect(bench.invoked).toEqual([])
  await bench.engine.answer(run, replyTo(task, { by: operator('k1') }, { n: 2 }))
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.arguments)).toEqual([{ n: 2 }])
})

test('shows the policy decision about edited arguments to those who vote on them', async () => {
  const when = { field: 'args.n', op: 'gt', value: 1 } as const
  const entry = policy('gate', { when, obligations: { approvals_required: 2 } })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], policies: [{ on: ['pay'], entry }] })],
    models: { root: inOrder({ calls: [{ name: 'pay', args: { n: 7 } }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const told = async () => {
    const { content } = (await bench.timeline(run)).find(({ type }) => type === 'UserTaskReq')!
    const [{ matched, condition }] = content['policies'] as [JsonObject]
    return [content['prompt'], matched, condition]
  }
  expect(await told()).toEqual(['acme.gate@1.0.0 requires an approval: args.n > 1 (7).', true, 'args.n > 1 (7)'])
  await bench.engine.answer(run, replyTo(task, { by: operator('k1'), metadata: { 'svc/arguments': { n: 5 } } }))
  expect(await told()).toEqual(['acme.gate@1.0.0 requires an approval: args.n > 1 (5).', true, 'args.n > 1 (5)'])
  await bench.engine.answer(
    run,
    replyTo(task, { by: operator('k2'), metadata: { 'svc/arguments': { n: 1 } } }, { n: 5 }),
  )
  expect(await told()).toEqual([
    'An irreversible_action requires an approval, and no policy grants it.',
    false,
    'args.n > 1 (1)',
  ])
  expect(bench.invoked).toEqual([])
})

test.each([
  ['revalidate', 'require_approval', 'allow'],
  ['accept', undefined, undefined],
] as const)(
  'who edited, when and what the policies said stays with the task (on_modify %s)',
  async (on_modify, first, second) => {
    const look = tool('look')
    const when = { field: 'args.n', op: 'gt', value: 1 } as const
    const entry = policy('gate', { when, obligations: { approvals_required: 3, on_modify } })
    const bench = await openBench({
      agents: [snapshotOf({ name: 'root', tools: [look], policies: [{ on: ['look'], entry }] })],
      models: { root: inOrder({ calls: [{ name: 'look', args: { n: 7 } }] }, 'Done.') },
      tools: { look: () => returns('seen') },
    })
    const run = await bench.start('root')
    const task = await bench.waitForTask(run)
    expect(task).not.toHaveProperty('edits')
    const edit = (by: Principal, seen: number, n: number) =>
      bench.engine.answer(run, replyTo(task, { by, metadata: { 'svc/arguments': { n } } }, { n: seen }))
    await edit(operator('k1'), 7, 5)
    bench.clock.set(T0 + 1000)
    await edit(operator('olga'), 5, 1)
    for (const id of ['k1', 'k2']) await bench.engine.answer(run, replyTo(task, { by: operator(id) }, { n: 1 }))
    await bench.waitForEnd(run)
    const edits = [
      {
        edited_by: 'operator:k1',
        edited_at: '2026-01-01T00:00:00.000Z',
        arguments_digest: digestOfJson({ n: 5 }),
        ...(first && { decision: first }),
      },
      {
        edited_by: 'operator:olga',
        edited_at: '2026-01-01T00:00:01.000Z',
        arguments_digest: digestOfJson({ n: 1 }),
        ...(second && { decision: second }),
      },
    ]
    const { content } = (await bench.timeline(run)).find(({ type }) => type === 'UserTaskReq')!
    expect([content['arguments'], content['edits']]).toEqual([{ n: 1 }, edits])
    // The log has what each of them made of it.
    const { sessionId } = (await bench.store.run(run))!
    const voted = (await bench.store.events(sessionId, 0, 100))
      .filter(({ subject }) => subject === 'engine.user_task.voted')
      .map(({ data }) => data['task'] as JsonObject)
    expect(voted.map((each) => [each['arguments'], each['edits'], each['approvals_received']])).toEqual([
      [{ n: 5 }, edits.slice(0, 1), 1],
      [{ n: 1 }, edits, 1],
      [{ n: 1 }, edits, 2],
    ])
    expect(bench.invoked.map((each) => each.arguments)).toEqual([{ n: 1 }])
  },
)

test('refuses edits where the policy forbids them', async () => {
  const bench = await openGated({ on_modify: 'reject' })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(await bench.engine.answer(run, reply(task, { metadata: { 'svc/arguments': { n: 2 } } }))).toMatchObject({
    code: 'invalid_value',
  })
  expect(bench.invoked).toEqual([])
})

test('a task of another run, and any task while the timeline is hidden, is not found', async () => {
  const bench = await openGated({})
  const [run, other] = [await bench.start('root'), await bench.start('root')]
  const task = await bench.waitForTask(run)
  await bench.waitForTask(other)
  expect(await bench.engine.answer(other, reply(task))).toMatchObject({ code: 'task_not_found' })
  expect(await bench.engine.answer(run, reply(task), true)).toMatchObject({ code: 'task_not_found' })
  expect(await bench.engine.answer(run, reply(task, { by: operator() }), true)).toMatchObject({ status: 'Running' })
})

test('accepts one of two simultaneous answers, and refuses the other', async () => {
  const bench = await openGated({})
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const answers = await Promise.all([
    bench.engine.answer(run, reply(task, { by: key('k1'), approved: true })),
    bench.engine.answer(run, reply(task, { by: key('k2'), approved: false })),
  ])
  expect(answers.map((each) => each.code)).toEqual([undefined, 'task_already_completed'])
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
})

test('svc.ask_user waits for a message, and its text is the result', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [builtin('ask_user')] })],
    models: {
      root: (request, signal) =>
        request.run.turn === 1
          ? { calls: [{ name: 'ask_user', args: { message: 'Which order?' } }] }
          : echoLastResult(request, signal),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEvent(run, (event) => event.subject === 'engine.session.paused')
  expect((await bench.store.run(run))!.status).toBe('WaitingForResponse')
  expect(await bench.engine.answer(run, { text: 'Order 7', by: key() })).toEqual({ status: 'Running', pending: [] })
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.output).toBe('Order 7')
  expect(await bench.engine.answer(run, { text: 'Hello?', by: key() })).toMatchObject({
    status: 'Completed',
    code: 'run_not_waiting',
  })
})

const openAsking = () =>
  openBench({
    agents: [snapshotOf({ name: 'root', tools: [builtin('ask_user')] })],
    models: {
      root: (request, signal) =>
        request.run.turn === 1
          ? { calls: [{ name: 'ask_user', args: { message: 'Which order?' } }] }
          : echoLastResult(request, signal),
    },
  })

test('counts a reply that is sent twice once, and reports the other as a duplicate', async () => {
  const bench = await openAsking()
  const run = await bench.start('root')
  await bench.waitForEvent(run, (event) => event.subject === 'engine.session.paused')
  const send = () => bench.engine.answer(run, { text: 'Order 7', by: key() })
  const answers = await Promise.all([send(), send(), send()])
  expect(answers.map(({ code, error, duplicate }) => [code, error, duplicate])).toEqual([
    [undefined, undefined, undefined],
    [undefined, undefined, true],
    [undefined, undefined, true],
  ])
  await bench.waitForEnd(run)
  expect(await send()).toEqual({ status: 'Completed', duplicate: true, pending: [] })
  const steps = await bench.store.stepsOfRun(run)
  expect(steps.flatMap(({ content }) => (content['reply_to'] === undefined ? [] : [content['text']]))).toEqual([
    'Order 7',
  ])
})

test('does not treat another text, or the same after a minute, as a duplicate', async () => {
  const bench = await openAsking()
  const run = await bench.start('root')
  await bench.waitForEvent(run, (event) => event.subject === 'engine.session.paused')
  await bench.engine.answer(run, { text: 'Order 7', by: key() })
  await bench.waitForEnd(run)
  expect(await bench.engine.answer(run, { text: 'Order 8', by: key() })).toMatchObject({ code: 'run_not_waiting' })
  bench.clock.set(bench.clock.now() + 60_001)
  expect(await bench.engine.answer(run, { text: 'Order 7', by: key() })).toMatchObject({ code: 'run_not_waiting' })
})

test.each([
  [
    'no options',
    { kind: 'multi_option', prompt: 'Which?' },
    { path: '/options', message: 'is required for multi_option' },
  ],
  [
    'an option twice',
    { kind: 'multi_option', prompt: 'Which?', options: ['a', 'a'] },
    { path: '/options', message: 'offers "a" twice' },
  ],
  [
    'bounds that exclude each other',
    { kind: 'number', prompt: 'How many?', min: 5, max: 4 },
    { path: '/max', message: 'must be at least min, 5' },
  ],
])('refuses svc.request_input with %s, which nobody could answer', async (_, args, detail) => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [builtin('request_input')] })],
    models: {
      root: (request, signal) =>
        request.run.turn === 1 ? { calls: [{ name: 'request_input', args }] } : echoLastResult(request, signal),
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(JSON.parse((await bench.store.run(run))!.output as string)).toEqual({
    error: 'invalid_arguments',
    message: 'The arguments of request_input are not valid.',
    details: [detail],
  })
})

test.each([
  [
    { kind: 'multi_option', prompt: 'Which?', options: ['a'] },
    { selectedOptionId: 'b' },
    { selectedOptionId: 'a' },
    'a',
  ],
  [{ kind: 'text', prompt: 'Why?' }, { numberValue: 1 }, { textValue: 'because' }, 'because'],
  [{ kind: 'number', prompt: 'How many?', min: 1, max: 9 }, { numberValue: 10 }, { numberValue: 9 }, '9'],
  [
    { kind: 'multi_option', prompt: 'Which?', options: [{ id: 'a', label: 'A' }] },
    { selectedOptionId: 'b' },
    { selectedOptionId: 'a' },
    'a',
  ],
])('svc.request_input accepts only valid answers: %o', async (args, wrong, right, output) => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [builtin('request_input')] })],
    models: {
      root: (request, signal) =>
        request.run.turn === 1 ? { calls: [{ name: 'request_input', args }] } : echoLastResult(request, signal),
    },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: args.kind, prompt: args.prompt, completable_via: ['api', 'operator'] })
  expect(await bench.engine.answer(run, reply(task, wrong))).toMatchObject({
    status: 'WaitingForHITL',
    code: 'invalid_value',
  })
  expect(await bench.engine.answer(run, reply(task, right))).toMatchObject({ status: 'Running' })
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.output).toBe(output)
  expect(await bench.engine.answer(run, reply(task, right))).toMatchObject({ duplicate: true })
})

test('an answer that is repeated with its idempotency key gets the first response, and counts once', async () => {
  const bench = await openAsking()
  const run = await bench.start('root')
  await bench.waitForEvent(run, (event) => event.subject === 'engine.session.paused')
  const once = { key: 'once', bodyDigest: 'sha256:1' }
  const send = (text: string, idempotency = once) => bench.engine.answer(run, { text, by: key() }, false, idempotency)
  const first = { status: 'Running', pending: [] }
  // A twin waits for the first; one of another body is refused, whenever it comes.
  const [accepted, twin] = await Promise.all([send('Order 7'), send('Order 7')])
  expect([accepted, twin]).toEqual([first, { ...first, duplicateDelivery: true }])
  await bench.waitForEnd(run)
  expect(await send('Order 7')).toEqual({ ...first, duplicateDelivery: true })
  await expect(send('Order 8', { ...once, bodyDigest: 'sha256:2' })).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  })
  // Without the key it is another message, to a run that has ended.
  expect(await bench.engine.answer(run, { text: 'Order 8', by: key() })).toMatchObject({ code: 'run_not_waiting' })
  const steps = await bench.store.stepsOfRun(run)
  expect(steps.filter(({ content }) => content['reply_to'] !== undefined)).toHaveLength(1)
})

test('a message that found nobody waiting may be repeated with its key', async () => {
  const bench = await openAsking()
  const run = await bench.start('root')
  const send = () =>
    bench.engine.answer(run, { text: 'Order 7', by: key() }, false, { key: 'k', bodyDigest: 'sha256:1' })
  const early = await send()
  await bench.waitForEvent(run, (event) => event.subject === 'engine.session.paused')
  expect([early.code, (await send()).code]).toEqual(['run_not_waiting', undefined])
})

test('a message that reaches two servers at once with one Idempotency-Key is delivered once', async () => {
  const gate: { open: () => void } = { open: () => {} }
  const opened = new Promise<void>((resolve) => void (gate.open = resolve))
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, 'Done.') },
    tools: { look: async () => (await opened, returns('seen')) },
  })
  const run = await bench.start('root')
  await turns()
  const given = { by: key(), text: 'Hurry.', steer: true } as const
  const idempotency = { key: 'once', bodyDigest: digestOfJson({ text: 'Hurry.' }) }
  const first = () => bench.engine.answer(run, given, false, idempotency)
  let isLate = true
  /** The other server gets the request while this one has looked its key up and found nothing. */
  const findEarlierStart: typeof bench.store.findEarlierStart = async (...asked) => {
    const found = await bench.store.findEarlierStart(...asked)
    if (isLate) await first()
    isLate = false
    return found
  }
  const leaseTimes = { ttlMs: 15_000, marginMs: 3000, claimEveryMs: 60_000 }
  const other = createEngine({
    ...bench.parts,
    store: { ...bench.store, findEarlierStart },
    worker: 'other',
    leaseTimes,
    timers: bench.timers,
  })
  expect(await other.answer(run, given, false, idempotency)).toEqual({ ...(await first()), duplicateDelivery: true })
  gate.open()
  // The server that drives the run hears of it with its next save.
  await bench.waitForEnd(run)
  const messages = (await bench.timeline(run)).filter(({ type }) => type === 'UserMessage')
  expect(messages.map(({ content }) => content['text'])).toEqual(['Begin.', 'Hurry.'])
})
