/**
 * Messages to runs that work, waits for a time or a signal, and reports from outside.
 * Source: docs/design/steering.md#messages-to-working-runs
 */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import type { CompletionRequest } from '../../src/providers/provider.ts'
import { holdOfState } from '../../src/spec/run/hold.ts'
import type { BoundTool } from '../../src/spec/snapshot.ts'
import {
  builtin,
  inOrder,
  key,
  openBench,
  operator,
  policy,
  reply,
  returns,
  snapshotOf,
  T0,
  tool,
  turns,
  type Bench,
  type ModelReply,
} from './bench.ts'

const HOUR = 3600_000
const runOf = async (bench: Bench, run: RunId) => (await bench.store.run(run))!
const holdOf = async (bench: Bench, run: RunId) => holdOfState(await runOf(bench, run))
const textsOf = ({ messages }: CompletionRequest) =>
  messages.flatMap((each) =>
    each.role === 'user' ? each.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [`(${each.role})`],
  )

/** An agent whose completions wait until they are let go, one after the other. */
async function gatedBench(replies: readonly ModelReply[]) {
  const asked: CompletionRequest[] = []
  const gates: (() => void)[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: {
      root: async (request, signal) => {
        const at = asked.push(request) - 1
        await new Promise<void>((resolve, reject) => {
          gates.push(resolve)
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
        return replies[at]!
      },
    },
    tools: { look: () => returns('seen') },
  })
  const steer = (run: RunId, text: string, how: true | 'interrupt' = true) =>
    bench.engine.answer(run, { by: key(), text, steer: how })
  return { bench, asked, gates, steer }
}

test('a message to a working run is taken up before its next completion', async () => {
  const { bench, asked, gates, steer } = await gatedBench([{ calls: [{ name: 'look' }] }, 'Blue it is.'])
  const run = await bench.start('root')
  await turns()
  expect(await steer(run, 'The blue one.')).toMatchObject({ status: 'Running' })
  gates[0]!()
  await turns()
  expect(asked).toHaveLength(2)
  expect(textsOf(asked[1]!)).toEqual(['Begin.', '(assistant)', '(tool)', 'The blue one.'])
  gates[1]!()
  await turns()
  expect(await runOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Blue it is.' })
  const messages = (await bench.timeline(run)).filter(({ type }) => type === 'UserMessage')
  expect(messages.map(({ content: { text, steer: isSteer } }) => [text, isSteer])).toEqual([
    ['Begin.', undefined],
    ['The blue one.', true],
  ])
})

test('an answer that was given without a message that came meanwhile is not the last', async () => {
  const { bench, asked, gates, steer } = await gatedBench(['Red.', 'Blue.'])
  const run = await bench.start('root')
  await turns()
  await steer(run, 'Not red.')
  gates[0]!()
  await turns()
  expect(textsOf(asked[1]!)).toEqual(['Begin.', '(assistant)', 'Not red.'])
  gates[1]!()
  await turns()
  expect(await runOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Blue.' })
})

test('an interrupt drops the completion under way', async () => {
  const { bench, asked, gates, steer } = await gatedBench(['Red.', 'Blue.'])
  const run = await bench.start('root')
  await turns()
  await steer(run, 'Not red.', 'interrupt')
  await turns()
  expect(asked).toHaveLength(2)
  expect(textsOf(asked[1]!)).toEqual(['Begin.', 'Not red.'])
  gates[0]!()
  gates[1]!()
  await turns()
  expect(await runOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Blue.' })
})

test('a message survives a restart, and is told where its run ends before it', async () => {
  const { bench, gates, steer } = await gatedBench(['Red.', 'Blue.'])
  const run = await bench.start('root')
  await turns()
  await steer(run, 'Not red.')
  await bench.engine.cancel(run, operator())
  gates[0]!()
  await turns()
  const messages = (await bench.timeline(run)).filter(({ type }) => type === 'UserMessage')
  expect(messages.map(({ content }) => content['text'])).toEqual(['Begin.', 'Not red.'])
})

test('a message to a run that has ended changes nothing', async () => {
  const { bench, gates, steer } = await gatedBench(['Red.'])
  const run = await bench.start('root')
  await turns()
  gates[0]!()
  await turns()
  const before = await bench.timeline(run)
  expect(await steer(run, 'Not red.')).toMatchObject({
    status: 'Completed',
    code: 'run_not_waiting',
    error: 'The run does not wait for a reply; its status is Completed.',
  })
  expect(await bench.timeline(run)).toEqual(before)
})

test('at most 32 messages wait for a completion', async () => {
  const { bench, steer } = await gatedBench(['Red.'])
  const run = await bench.start('root')
  await turns()
  for (let at = 0; at < 32; at++) expect((await steer(run, `m${at}`)).code).toBeUndefined()
  expect((await steer(run, 'one more')).code).toBe('steering_full')
})

const wait = (name: 'wait_until' | 'wait_event'): BoundTool => tool(name, { id: `svc.${name}`, builtin: true })

/** An agent that makes one call, then ends with what it returned. */
async function waitingBench(bound: BoundTool, args: JsonValue) {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [bound] })],
    models: {
      root: ({ run, messages }) => {
        const last = messages.at(-1)
        return run.turn === 1
          ? { calls: [{ name: bound.wire, args, id: 'c1' }] }
          : last?.role === 'tool'
            ? last.content
            : ''
      },
    },
  })
  const run = await bench.start('root')
  await turns()
  return { bench, run }
}

test('svc.wait_until holds the run, over a restart, until its time has come', async () => {
  const { bench, run } = await waitingBench(wait('wait_until'), { after: '2h' })
  const until = new Date(T0 + 2 * HOUR).toISOString()
  expect(await holdOf(bench, run)).toEqual({ reason: 'timer', since: new Date(T0).toISOString(), nextAttemptAt: until })
  expect(bench.busySessions()).toEqual([])
  await bench.restart()
  await bench.advance(2 * HOUR - 1)
  expect((await runOf(bench, run)).status).toBe('Running')
  await bench.advance(1)
  expect(await runOf(bench, run)).toMatchObject({ status: 'Completed', output: `{"waited_until":"${until}"}` })
})

test.each([
  [{}, 'needs at or after, one of them'],
  [{ at: '2026-02-01T00:00:00Z', after: '2h' }, 'needs at or after, one of them'],
  [{ after: 'soon' }, 'must be a time such as'],
  [{ at: 'tomorrow' }, 'must be a time such as'],
  [{ after: '400d' }, 'must be within 366 days'],
])('svc.wait_until with %j is an error that the model reads', async (args, message) => {
  const { bench, run } = await waitingBench(wait('wait_until'), args)
  expect((await runOf(bench, run)).output).toContain(message)
})

test('a time that has passed is not waited for', async () => {
  const { bench, run } = await waitingBench(wait('wait_until'), { at: '2020-01-01T00:00:00Z' })
  expect((await runOf(bench, run)).status).toBe('Completed')
})

const PARCEL = { name: 'parcel', schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } }

test('svc.wait_event ends with the signal that it names, once, if its data fits', async () => {
  const { bench, run } = await waitingBench(wait('wait_event'), PARCEL)
  expect((await holdOf(bench, run))?.reason).toBe('signal')
  expect(await bench.engine.signal(run, 'letter', null)).toMatchObject({
    status: 'Running',
    code: 'signal_not_awaited',
    error: 'The run does not wait for the signal letter; nothing has changed.',
  })
  expect(await bench.engine.signal(run, 'parcel', { id: 7 })).toMatchObject({
    status: 'Running',
    code: 'invalid_value',
  })
  const both = await Promise.all([
    bench.engine.signal(run, 'parcel', { id: 'P-7' }),
    bench.engine.signal(run, 'parcel', { id: 'P-8' }),
  ])
  expect(both.map(({ code }) => code)).toEqual([undefined, 'signal_not_awaited'])
  await turns()
  expect(await runOf(bench, run)).toMatchObject({
    status: 'Completed',
    output: '{"signal":"parcel","data":{"id":"P-7"}}',
  })
})

test('svc.wait_event gives up after its timeout, and tells the model', async () => {
  const { bench, run } = await waitingBench(wait('wait_event'), { name: 'parcel', timeout: '1h' })
  await bench.advance(HOUR)
  expect((await runOf(bench, run)).output).toBe('{"error":"timeout","message":"No signal parcel came in time."}')
})

test('a schema that cannot be used is refused when the wait begins', async () => {
  const { bench, run } = await waitingBench(wait('wait_event'), { name: 'parcel', schema: { type: 'nonsense' } })
  expect((await runOf(bench, run)).output).toContain('/schema')
})

/** An agent with a tool that only accepts its call. */
async function outsideBench(
  about: Partial<BoundTool> = {},
  answer: () => ReturnType<typeof returns> = () => returns('ok'),
) {
  const labels = { 'svc/completion': 'external', 'svc/completion-timeout': '6h' }
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [tool('job', { sideEffectClass: 'non_idempotent_write', labels, ...about })] }),
    ],
    models: {
      root: ({ run, messages }) => {
        const last = messages.at(-1)
        return run.turn === 1 ? { calls: [{ name: 'job' }] } : last?.role === 'tool' ? last.content : ''
      },
    },
    tools: { job: async () => (await turns(3), answer()) },
  })
  const run = await bench.start('root')
  await turns()
  return { bench, run, token: () => bench.invoked.at(-1)!.completionToken! }
}

test('a call that its tool has accepted ends when the token is used, once', async () => {
  const { bench, run, token } = await outsideBench()
  expect(await holdOf(bench, run)).toEqual({ reason: 'external', since: new Date(T0).toISOString() })
  await bench.restart()
  expect(await bench.engine.complete(token(), { result: { rows: 12 } })).toEqual({ runId: run, status: 'Running' })
  await turns()
  expect(await runOf(bench, run)).toMatchObject({ status: 'Completed', output: '{"rows":12}' })
  expect(await bench.engine.complete(token(), { result: { rows: 12 } })).toMatchObject({ duplicate: true })
  await expect(bench.engine.complete(token(), { result: { rows: 13 } })).rejects.toMatchObject({
    code: 'completion_used',
  })
  expect(bench.invoked).toHaveLength(1)
})

test('an error that is reported is an error of the tool', async () => {
  const { bench, run, token } = await outsideBench()
  await bench.engine.complete(token(), { error: 'the disk is full' })
  await turns()
  expect((await runOf(bench, run)).output).toBe('{"error":"failed","message":"the disk is full"}')
})

test('a report that overtakes the answer of the tool counts', async () => {
  const done: { open: () => void } = { open: () => {} }
  const opened = new Promise<void>((resolve) => void (done.open = resolve))
  const labels = { 'svc/completion': 'external' }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('job', { sideEffectClass: 'non_idempotent_write', labels })] })],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'job' }] } : 'Done.') },
    tools: { job: async () => (await opened, returns('accepted')) },
  })
  const run = await bench.start('root')
  await turns()
  await bench.engine.complete(bench.invoked[0]!.completionToken!, { result: 1 })
  done.open()
  await turns()
  expect((await runOf(bench, run)).status).toBe('Completed')
  const results = (await bench.timeline(run)).filter(({ type }) => type === 'ToolResult')
  expect(results.map(({ content }) => content['result'])).toEqual([1])
})

test('a call that nobody reports in time is reviewed by a person, and a late report ends the review', async () => {
  const { bench, run, token } = await outsideBench()
  await bench.advance(6 * HOUR)
  expect((await runOf(bench, run)).status).toBe('WaitingForHITL')
  await bench.engine.complete(token(), { result: 'late, but done' })
  await turns()
  expect(await runOf(bench, run)).toMatchObject({ status: 'Completed', output: 'late, but done' })
})

test('a late report of a call that is to be made again ends it, and the approval that it asked for', async () => {
  const gate = policy('gate', {})
  const labels = { 'svc/completion': 'external', 'svc/completion-timeout': '6h' }
  const job = tool('job', { sideEffectClass: 'non_idempotent_write', labels })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [job, builtin('ask_user')], policies: [{ on: ['job'], entry: gate }] })],
    models: { root: inOrder({ calls: [{ name: 'job' }] }, { calls: [{ name: 'ask_user' }] }) },
    tools: { job: () => returns('accepted') },
  })
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run)))
  await turns()
  await bench.advance(6 * HOUR)
  const review = await bench.waitForTask(run, 2)
  await bench.engine.answer(run, reply(review, { by: operator(), selectedOptionId: 'retry' }))
  await bench.waitForTask(run, 3)
  await bench.engine.complete(bench.invoked[0]!.completionToken!, { result: 'late, but done' })
  await turns()
  const { status, sessionId } = await runOf(bench, run)
  expect(status).toBe('WaitingForResponse')
  const tasks = await bench.store.tasksOfSession(sessionId)
  expect(tasks.map(({ kind, answer }) => [kind, answer?.outcome])).toEqual([
    ['approval', 'approved'],
    ['anomaly_review', 'answered'],
    ['approval', 'cancelled'],
  ])
  expect(bench.invoked).toHaveLength(1)
})

test('the acceptance of a call does not say, after its run was cancelled, that its work was done', async () => {
  const done: { open: () => void } = { open: () => {} }
  const opened = new Promise<void>((resolve) => void (done.open = resolve))
  const labels = { 'svc/completion': 'external' }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('job', { sideEffectClass: 'non_idempotent_write', labels })] })],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'job' }] } : 'Done.') },
    tools: { job: async () => (await opened, returns('accepted')) },
  })
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  done.open()
  await turns()
  const { sessionId } = await runOf(bench, run)
  const tasks = await bench.store.tasksOfSession(sessionId)
  expect(tasks.map(({ kind, status }) => [kind, status])).toEqual([['anomaly_review', 'pending']])
  expect((await bench.store.calls({ sessionId })).map(({ state }) => state)).toEqual(['unknown'])
})

test('an unsafe call that waits outside when its run is cancelled is reviewed', async () => {
  const { bench, run, token } = await outsideBench()
  await bench.engine.cancel(run, operator())
  const tasks = await bench.store.tasksOfSession((await runOf(bench, run)).sessionId)
  expect(tasks.map(({ kind, status }) => [kind, status])).toEqual([['anomaly_review', 'pending']])
  await expect(bench.engine.complete(token(), { result: 1 })).rejects.toMatchObject({ code: 'completion_not_found' })
})

test('a token that is invented, or was altered, ends nothing', async () => {
  const { bench, run, token } = await outsideBench()
  const altered = token().slice(0, -1) + (token().endsWith('A') ? 'B' : 'A')
  for (const wrong of ['svcc_1', altered, `svcc_${'A'.repeat(54)}`])
    await expect(bench.engine.complete(wrong, { result: 1 })).rejects.toMatchObject({ code: 'completion_not_found' })
  expect((await holdOf(bench, run))?.reason).toBe('external')
})

test('a token is stored nowhere', async () => {
  const { bench, run, token } = await outsideBench()
  const { sessionId } = await runOf(bench, run)
  const stored = JSON.stringify([
    await bench.store.load(sessionId),
    await bench.store.stepsOfSession(sessionId),
    await bench.store.events(sessionId, 0, 100),
  ])
  expect(stored).not.toContain(token())
})

test('a tool that refuses its call has answered it', async () => {
  const { bench, run } = await outsideBench({}, () => returns('no room', true))
  expect((await runOf(bench, run)).output).toBe('no room')
})
