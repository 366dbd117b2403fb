/** Undoing what an ended run made. Source: docs/design/steering.md#undo */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import { ProviderError, type ModelMessage } from '../../src/providers/provider.ts'
import { readForkSource } from '../../src/engine/fork.ts'
import type { UndoRequest } from '../../src/engine/interface/engine.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  boundAgent,
  inOrder,
  openBench,
  operator,
  policy,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  type AgentSpec,
  type Bench,
  type BenchSpec,
  type Model,
  type ModelReply,
} from './bench.ts'

const olga = operator() as UndoRequest['by']
const gone = new ProviderError('The model is gone.', { status: 401, retryable: false })
const broken: ToolOutcome = { at: 'unknown', code: 'broken', error: 'The connection broke.' }

const book = tool('book', {
  sideEffectClass: 'non_idempotent_write',
  labels: { 'svc/undone-by': 'acme.unbook', 'svc/undo-arguments': '{"booking": "{result.id}", "room": "{args.room}"}' },
})
const unbook = tool('unbook', { sideEffectClass: 'non_idempotent_write' })
const mail = tool('mail', { sideEffectClass: 'irreversible_action', labels: { 'svc/undone-by': 'none' } })
const grant: NonNullable<AgentSpec['policies']>[number] = {
  on: ['mail', 'unbook'],
  entry: policy('grant', { effect: 'grant' }),
}

/** Two rooms are booked and a mail is sent; then the model fails. */
async function openTrip(more: Partial<BenchSpec> = {}, about: Partial<AgentSpec> = {}) {
  let booked = 0
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [book, unbook, mail], policies: [grant], ...about })],
    models: {
      root: inOrder(
        { calls: [{ name: 'book', args: { room: 1 } }] },
        { calls: [{ name: 'mail', args: { to: 'ann' } }] },
        { calls: [{ name: 'book', args: { room: 2 } }] },
        gone,
      ),
    },
    ...more,
    tools: {
      book: () => returns({ id: `b${++booked}` }),
      unbook: () => returns('cancelled'),
      mail: () => returns('sent'),
      ...more.tools,
    },
  })
  const run = await bench.start('root')
  await turns()
  return { bench, run }
}

const planOf = async (bench: Bench, run: RunId) =>
  (await bench.engine.planUndo(run)).items.map((item) => {
    if (item.at === 'open') return [item.tool, item.decision.verdict, item.undo.name, item.undo.arguments]
    return [item.tool, item.at, item.at === 'final' ? item.why : item.by.status]
  })
const unbooked = ({ invoked }: Bench) =>
  invoked.filter(({ tool: { wire } }) => wire === 'unbook').map(({ arguments: given }) => given)
const statusOf = async (bench: Bench, run: RunId) => (await bench.store.run(run))!.status
const undoRuns = async (bench: Bench, run: RunId) =>
  (await bench.store.runsOfSession((await bench.store.run(run))!.sessionId)).filter(
    ({ origin }) => origin?.kind === 'undo',
  )

test('the plan lists what was made, newest first, with the call that undoes it and what the policies say; nothing happens', async () => {
  const { bench, run } = await openTrip()
  const before = await bench.store.session((await bench.store.run(run))!.sessionId)
  expect(await planOf(bench, run)).toEqual([
    ['acme.book', 'allow', 'unbook', { booking: 'b2', room: 2 }],
    ['acme.mail', 'final', 'Nothing undoes acme.mail (svc/undone-by: none).'],
    ['acme.book', 'allow', 'unbook', { booking: 'b1', room: 1 }],
  ])
  await turns()
  expect(await bench.store.session(before!.id)).toEqual(before)
  expect(unbooked(bench)).toEqual([])
})

test('undoes one call after another, newest first; the run stays as it ended', async () => {
  const { bench, run } = await openTrip()
  const session = (await bench.store.run(run))!.sessionId
  const before = (await bench.store.session(session))!
  const { runId } = await bench.engine.undo(run, { by: olga, reason: 'the guest never came' })
  await turns()
  expect(unbooked(bench)).toEqual([
    { booking: 'b2', room: 2 },
    { booking: 'b1', room: 1 },
  ])
  const { status, output, error, finishedAt, rootRunId } = (await bench.store.session(session))!
  expect({ status, output, error, finishedAt, rootRunId }).toEqual({
    status: 'Failed',
    output: null,
    error: before.error,
    finishedAt: before.finishedAt,
    rootRunId: run,
  })
  expect(await planOf(bench, run)).toEqual([
    ['acme.book', 'undone', 'Completed'],
    ['acme.mail', 'final', 'Nothing undoes acme.mail (svc/undone-by: none).'],
    ['acme.book', 'undone', 'Completed'],
  ])
  const steps = (await bench.timeline(run)).filter((step) => step.runId === runId)
  expect(steps.map(({ type }) => type)).toEqual([
    'UndoRequested',
    'PolicyDecision',
    'ToolCall',
    'ToolResult',
    'Output',
    'RunCompleted',
  ])
  expect(steps[0]!.content).toMatchObject({
    undoes: { tool: 'acme.book', asked_by: 'operator:olga', reason: 'the guest never came', run_id: run },
    name: 'unbook',
    arguments: { booking: 'b2', room: 2 },
  })
  expect(bench.busySessions()).toEqual([])
})

test('what was undone is not undone again', async () => {
  const { bench, run } = await openTrip()
  const { runId } = await bench.engine.undo(run, { by: olga })
  await turns()
  await expect(bench.engine.undo(run, { by: olga })).rejects.toThrow(`Run ${run} made nothing that can be undone now.`)
  const { call } = (await bench.engine.planUndo(run)).items[0]!
  await expect(bench.engine.undo(run, { by: olga, calls: [call] })).rejects.toThrow(
    `Call ${call.callId} of run ${run} cannot be undone: run ${runId} has undone it.`,
  )
  await expect(bench.engine.undo(runId, { by: olga })).rejects.toThrow(
    `Run ${runId} undoes a call of run ${run}; what it did is not undone again.`,
  )
  await expect(bench.engine.resume(run, { by: olga })).rejects.toThrow('something that it did was undone')
  expect(unbooked(bench)).toHaveLength(2)
})

test('two operators who ask at once undo each call once', async () => {
  const { bench, run } = await openTrip()
  const both = await Promise.allSettled([bench.engine.undo(run, { by: olga }), bench.engine.undo(run, { by: olga })])
  await turns()
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(unbooked(bench)).toHaveLength(2)
})

test('an approval that the policies ask for is a task that says what is undone, and holds what is older', async () => {
  const { bench, run } = await openTrip(
    {},
    {
      policies: [
        { ...grant, on: ['mail'] },
        { on: ['unbook'], entry: policy('ask', {}) },
      ],
    },
  )
  expect((await planOf(bench, run))[0]).toEqual(['acme.book', 'require_approval', 'unbook', { booking: 'b2', room: 2 }])
  const { runId } = await bench.engine.undo(run, { by: olga, reason: 'a wrong date' })
  await turns()
  expect(await statusOf(bench, runId)).toBe('WaitingForHITL')
  expect(await statusOf(bench, run)).toBe('Failed')
  const [task] = await bench.store.tasksOfSession((await bench.store.run(run))!.sessionId)
  expect(task).toMatchObject({
    kind: 'approval',
    runId,
    title: 'acme.root undoes acme.book with unbook',
    arguments: { booking: 'b2', room: 2 },
    context: { undoes: { tool: 'acme.book', run_id: run, asked_by: 'operator:olga', reason: 'a wrong date' } },
  })
  expect(unbooked(bench)).toEqual([])
  await expect(bench.engine.undo(run, { by: olga })).rejects.toThrow(
    `Run ${runId} is undoing a call of run ${run}; its status is WaitingForHITL.`,
  )
})

test('stops at the first that fails, and says why', async () => {
  const { bench, run } = await openTrip({ tools: { unbook: () => returns({ message: 'The hotel is closed.' }, true) } })
  const { runId } = await bench.engine.undo(run, { by: olga })
  await turns()
  expect(await bench.store.run(runId)).toMatchObject({
    status: 'Failed',
    error: 'unbook did not undo acme.book: The hotel is closed.',
    errorCode: 'tool_failed',
  })
  expect(unbooked(bench)).toHaveLength(1)
  // Whether the failed call did anything is not known, so a person is asked before it is made again.
  expect((await planOf(bench, run)).map(([name, verdict]) => [name, verdict])).toEqual([
    ['acme.book', 'require_approval'],
    ['acme.mail', 'final'],
    ['acme.book', 'allow'],
  ])
})

test('what the policies deny is listed, and the rest is undone', async () => {
  const { bench, run } = await openTrip(
    {},
    {
      policies: [
        { ...grant, on: ['mail'] },
        {
          on: ['unbook'],
          entry: policy('no', { effect: 'deny', when: { field: 'args.room', op: 'eq', value: 2 } as never }),
        },
      ],
    },
  )
  expect((await planOf(bench, run)).map(([name, verdict]) => [name, verdict])).toEqual([
    ['acme.book', 'deny'],
    ['acme.mail', 'final'],
    ['acme.book', 'allow'],
  ])
  await bench.engine.undo(run, { by: olga })
  await turns()
  expect(unbooked(bench)).toEqual([{ booking: 'b1', room: 1 }])
})

test('sub-agents are undone under their own policies and those above them', async () => {
  const child = snapshotOf({ name: 'child', tools: [book, unbook], policies: [grant] })
  const bench = await openBench({
    agents: [
      child,
      snapshotOf({
        name: 'root',
        agents: [boundAgent(child)],
        tools: [book, unbook],
        policies: [{ on: ['unbook', 'child'], inherited: true, entry: policy('ask-above', {}) }],
      }),
    ],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, gone),
      child: inOrder({ calls: [{ name: 'book', args: { room: 7 } }] }, 'Booked.'),
    },
    tools: { book: () => returns({ id: 'b7' }), unbook: () => returns('ok') },
  })
  const run = await bench.start('root')
  const answerNext = async () => {
    await turns()
    const { sessionId } = (await bench.store.run(run))!
    const task = (await bench.store.tasksOfSession(sessionId)).find(({ status }) => status === 'pending')!
    await bench.engine.answer(run, { taskId: task.id, approved: true, by: olga })
    await turns()
    return task.title
  }
  expect([await answerNext(), await answerNext()]).toEqual([
    'acme.root wants to call child',
    'acme.child wants to call book',
  ])
  expect(await statusOf(bench, run)).toBe('Failed')
  expect(await planOf(bench, run)).toEqual([['acme.book', 'require_approval', 'unbook', { booking: 'b7', room: 7 }]])
  await bench.engine.undo(run, { by: olga })
  expect(await answerNext()).toBe('acme.child undoes acme.book with unbook')
  expect(unbooked(bench)).toEqual([{ booking: 'b7', room: 7 }])
})

test('a run that goes on cannot be undone', async () => {
  const { bench, run } = await openTrip({ tools: { book: () => new Promise(() => {}) } })
  await expect(bench.engine.planUndo(run)).rejects.toThrow(`Run ${run} has not ended; its status is Running.`)
})

test('tells what cannot be undone: an unknown outcome, nothing declared, a tool that is not bound, a path that is not there', async () => {
  const odd = (labels: Record<string, string>) => tool('odd', { sideEffectClass: 'non_idempotent_write', labels })
  const why = async (labels: Record<string, string>, result: ToolOutcome = returns({ id: 1 })) => {
    const bench = await openBench({
      agents: [
        snapshotOf({
          name: 'root',
          tools: [
            odd(labels),
            tool('fix', {
              inputSchemas: [{ type: 'object', required: ['id'], properties: { id: { type: 'string' } } }],
            }),
          ],
        }),
      ],
      models: { root: inOrder({ calls: [{ name: 'odd' }] }, gone) },
      tools: { odd: () => result },
    })
    const run = await bench.start('root')
    await turns()
    if ((await statusOf(bench, run)) !== 'Failed') await bench.engine.cancel(run, olga)
    return (await planOf(bench, run))[0]?.[2]
  }
  expect(await why({})).toBe('acme.odd does not say what undoes it (svc/undone-by).')
  expect(await why({ 'svc/undone-by': 'acme.gone' })).toBe(
    'acme.odd is undone by acme.gone, which acme.root@1.0.0 does not bind.',
  )
  const byFix = { 'svc/undone-by': 'acme.fix' }
  expect(await why({ ...byFix, 'svc/undo-arguments': '{"id": "{result.key}"}' })).toBe(
    'The arguments of acme.fix cannot be filled in: the recorded call has no result.key.',
  )
  expect(await why({ ...byFix, 'svc/undo-arguments': '{"id": "{result.id}"}' })).toBe(
    'The arguments do not fit acme.fix: /id must be string.',
  )
  expect(await why({ ...byFix, 'svc/undo-arguments': '{"id": "no {result.id}"}' })).toBe(
    'Nothing handles acme.fix on this server.',
  )
  expect(await why(byFix, broken)).toBe('Nobody knows whether it happened: its review comes first.')
  expect(await why(byFix, returns('no', true))).toBe('It answered with an error; whether it did anything is not known.')
})

test('an undo that is under way when the process ends is recovered by the class of its call', async () => {
  const { bench, run } = await openTrip({ tools: { unbook: () => new Promise(() => {}) } })
  const { runId } = await bench.engine.undo(run, { by: olga })
  await turns()
  expect(unbooked(bench)).toHaveLength(1)
  await (await bench.restart()).recover()
  await turns()
  expect(await statusOf(bench, runId)).toBe('WaitingForHITL')
  const task = (await bench.store.tasksOfSession((await bench.store.run(run))!.sessionId)).find(
    ({ status }) => status === 'pending',
  )!
  expect(task.kind).toBe('anomaly_review')
  await bench.engine.answer(runId, { taskId: task.id, selectedOptionId: 'happened', by: olga })
  await turns()
  expect(await statusOf(bench, runId)).toBe('Completed')
  expect(await undoRuns(bench, run)).toHaveLength(2)
})

test('an undo takes a key that is derived from the call, so another process cannot repeat it', async () => {
  const { bench, run } = await openTrip()
  await bench.engine.undo(run, { by: olga })
  await turns()
  const { sessionId, workspaceId } = (await bench.store.run(run))!
  const effects = await bench.store.effects({ workspaceId, sessionId }, { skip: 0, take: 10 })
  const calls = (await bench.engine.planUndo(run)).items.filter(({ tool: name }) => name === 'acme.book')
  expect(effects.map(({ key, state }) => [key, state])).toEqual(
    calls
      .toReversed()
      .map(({ call }: { call: { runId: string; callId: string } }) => [`undo:${call.runId}:${call.callId}`, 'done']),
  )
})

test('a fork does not undo what the forked run made', async () => {
  const { bench, run } = await openTrip()
  const source = await readForkSource(bench.store, run)
  const version = (await bench.store.version(source.run.agentVersionId))!
  const at = source.steps.findLast(({ type }) => type === 'ToolResult')!.ordinal
  const fork = await bench.engine.fork(source, { by: olga, at, edits: [], version, limits: startOf('root').limits })
  await turns()
  expect(await statusOf(bench, fork.runId)).toBe('Failed')
  const { sessionId } = (await bench.store.run(fork.runId))!
  // The rows are there, for policies that count.
  expect((await bench.store.calls({ sessionId })).map(({ ref }) => ref)).toContain('acme.book')
  expect(await planOf(bench, fork.runId)).toEqual([])
  expect(await planOf(bench, run)).toHaveLength(3)
})

test('the values of an undo come from where the run that made the call has them', async () => {
  const entry = policy('from-hotel', { when: { field: 'source.booking', op: 'eq', value: 'tool:acme.book' } as never })
  const { bench, run } = await openTrip(
    { tools: { book: ({ arguments: given }) => returns({ id: `booking-${(given as { room: number }).room}` }) } },
    {
      policies: [
        { ...grant, on: ['mail'] },
        { on: ['unbook'], entry },
      ],
    },
  )
  const [item] = (await bench.engine.planUndo(run)).items
  expect(item).toMatchObject({ at: 'open', decision: { verdict: 'require_approval' } })
  const { runId } = await bench.engine.undo(run, { by: olga })
  await turns()
  const [task] = await bench.store.tasksOfSession((await bench.store.run(run))!.sessionId)
  expect(task).toMatchObject({ runId, sources: { booking: ['tool:acme.book'] } })
})

test('an earlier run of a conversation is undone, while a later one has ended otherwise', async () => {
  const { bench, run } = await openTrip()
  const { sessionId } = (await bench.store.run(run))!
  const later = await bench.start('root', {}, { continued: { sessionId } })
  await turns()
  const before = (await bench.store.session(sessionId))!
  expect(before.rootRunId).toBe(later)
  await bench.engine.undo(run, { by: olga })
  await turns()
  expect(unbooked(bench)).toEqual([
    { booking: 'b2', room: 2 },
    { booking: 'b1', room: 1 },
  ])
  const { status, rootRunId, output } = (await bench.store.session(sessionId))!
  expect({ status, rootRunId, output }).toEqual({ status: 'Failed', rootRunId: later, output: null })
  expect((await planOf(bench, later)).filter(([, at]) => at === 'allow')).toHaveLength(2)
})

test('a run that was let go on between plan and request is not undone, and one that is being undone is not let go on', async () => {
  const { bench, run } = await openTrip()
  const both = await Promise.allSettled([bench.engine.resume(run, { by: olga }), bench.engine.undo(run, { by: olga })])
  await turns()
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a call of unknown outcome that its review settles can be undone with what the review says', async () => {
  const { bench, run } = await openTrip({ tools: { book: () => broken } })
  await bench.engine.cancel(run, olga)
  await turns()
  expect(await planOf(bench, run)).toEqual([
    ['acme.book', 'final', 'Nobody knows whether it happened: its review comes first.'],
  ])
  const { sessionId } = (await bench.store.run(run))!
  const task = (await bench.store.tasksOfSession(sessionId)).find(({ status }) => status === 'pending')!
  const metadata = { 'svc/result': { id: 'b9' } }
  await bench.engine.answer(run, { taskId: task.id, selectedOptionId: 'happened', metadata, by: olga })
  await turns()
  expect(await planOf(bench, run)).toEqual([['acme.book', 'allow', 'unbook', { booking: 'b9', room: 1 }]])
})

test('a rejected undo leaves what is older, and can be asked for again', async () => {
  const { bench, run } = await openTrip(
    {},
    {
      policies: [
        { ...grant, on: ['mail'] },
        { on: ['unbook'], entry: policy('ask', {}) },
      ],
    },
  )
  const { sessionId } = (await bench.store.run(run))!
  const answerNext = async (approved: boolean) => {
    await turns()
    const task = (await bench.store.tasksOfSession(sessionId)).find(({ status }) => status === 'pending')!
    await bench.engine.answer(run, { taskId: task.id, approved, by: olga })
    await turns()
  }
  const { runId } = await bench.engine.undo(run, { by: olga })
  await answerNext(false)
  expect(await bench.store.run(runId)).toMatchObject({ status: 'Failed', errorCode: 'rejected' })
  expect(await undoRuns(bench, run)).toHaveLength(1)
  await bench.engine.undo(run, { by: olga })
  await answerNext(true)
  await answerNext(true)
  expect(unbooked(bench)).toEqual([
    { booking: 'b2', room: 2 },
    { booking: 'b1', room: 1 },
  ])
})

test('a secret that was masked is not sent to the tool that undoes', async () => {
  const { bench, run } = await openTrip({ tools: { book: () => returns({ id: 'key-***' }) } })
  expect((await planOf(bench, run))[0]).toEqual([
    'acme.book',
    'final',
    'The arguments of acme.unbook held a secret, which is not recorded.',
  ])
})

/** A model that keeps what it was given last. */
function listening(...replies: readonly ModelReply[]) {
  const heard: { messages: readonly ModelMessage[] } = { messages: [] }
  let turn = 0
  const model: Model = ({ messages }) => {
    heard.messages = messages
    return replies[turn++]!
  }
  return { heard, models: { root: model } }
}

test('a fork is told which of the calls that it takes over were undone since; a dry one is not', async () => {
  const { heard, models } = listening(
    { calls: [{ name: 'book', args: { room: 1 } }] },
    { calls: [{ name: 'mail', args: { to: 'ann' } }] },
    gone,
    'Told.',
  )
  const { bench, run } = await openTrip({ models })
  await bench.engine.undo(run, { by: olga })
  await turns()
  expect((await readForkSource(bench.store, run, true)).undone).toEqual([])
  const source = await readForkSource(bench.store, run)
  const at = source.steps.findLast(({ type }) => type === 'ToolResult')!.ordinal
  const version = (await bench.store.version(source.run.agentVersionId))!
  const fork = await bench.engine.fork(source, { by: olga, at, edits: [], version, limits: startOf('root').limits })
  await turns()
  expect(await statusOf(bench, fork.runId)).toBe('Completed')
  expect(heard.messages.flatMap((each) => (each.role === 'tool' ? [each.content] : []))).toEqual([
    '[An operator has undone since, so that it no longer stands: acme.book {"room":1}. The result at that time:]\n\n{"id":"b1"}',
    'sent',
  ])
})

test('a run that continues the session is told what of the runs before it was undone', async () => {
  const { heard, models } = listening(
    { calls: [{ name: 'book', args: { room: 1 } }] },
    'Booked.',
    'Told.',
    'Told again.',
  )
  const { bench, run } = await openTrip({ models })
  const { sessionId } = (await bench.store.run(run))!
  const booked = () =>
    heard.messages.flatMap((each) => (each.role === 'assistant' && each.text.startsWith('Booked.') ? [each.text] : []))
  await bench.start('root', {}, { continued: { sessionId } })
  await turns()
  expect(booked()).toEqual(['Booked.'])
  await bench.engine.undo(run, { by: olga })
  await turns()
  await bench.start('root', {}, { continued: { sessionId } })
  await turns()
  expect(booked()).toEqual([
    'Booked.\n\n[An operator has undone since, so that it no longer stands: acme.book {"room":1}.]',
  ])
})

test('a run whose version is gone is not undone, and the sentence says so', async () => {
  let isGone = false
  const { bench, run } = await openTrip({
    store: (plain) => ({ ...plain, version: async (id) => (isGone ? undefined : await plain.version(id)) }),
  })
  isGone = true
  const sentence = `Version 1.0.0, which run ${run} executed, is gone.`
  await expect(bench.engine.planUndo(run)).rejects.toThrow(sentence)
  await expect(bench.engine.undo(run, { by: olga })).rejects.toThrow(sentence)
  await turns()
  expect([unbooked(bench), await undoRuns(bench, run)]).toEqual([[], []])
})
