/** A run that has ended goes on where it stopped. Source: docs/design/steering.md#resume */
import { expect, test } from 'vitest'
import { agentIdOf, versionIdOf, type RunId } from '../../src/base/ids.ts'
import type { ResumeRequest } from '../../src/engine/interface/engine.ts'
import { ProviderError } from '../../src/providers/provider.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  boundAgent,
  builtin,
  inOrder,
  oneByOne,
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
  turns,
  WORKSPACE,
  type Bench,
  type ModelReply,
} from './bench.ts'

const olga = operator() as ResumeRequest['by']
const refused = new ProviderError('The key is not valid.', { status: 401, retryable: false })
const broken: ToolOutcome = { at: 'unknown', code: 'broken', error: 'The connection broke.' }

const resume = (bench: Bench, run: RunId, more: Partial<ResumeRequest> = {}) =>
  bench.engine.resume(run, { by: olga, ...more })
const statusOf = async (bench: Bench, run: RunId) => {
  const { status, output, error } = (await bench.store.run(run))!
  return { status, output, error }
}
const typesOf = async (bench: Bench, run: RunId) => (await bench.timeline(run)).map(({ type }) => type)
const callsMade = ({ invoked }: Bench) => invoked.map(({ tool: { wire }, attempt }) => `${wire} ${attempt}`)

/** A model whose next answers are given one after another, whatever turn it is. */
const sayInOrder =
  (...replies: ModelReply[]) =>
  () =>
    replies.shift() ?? 'nothing left to say'

test('a run that failed at its model goes on from there, and what it did is not done again', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass: 'non_idempotent_write' })] })],
    models: { root: sayInOrder({ calls: [{ name: 'pay' }] }, refused, 'Paid.') },
    tools: { pay: () => returns('done') },
  })
  const run = await bench.start('root')
  await turns()
  expect(await statusOf(bench, run)).toEqual({ status: 'Failed', output: null, error: 'The key is not valid.' })
  bench.clock.set(T0 + 3600_000)
  expect(await resume(bench, run, { reason: 'the key was renewed' })).toEqual({ runId: run, status: 'Running' })
  await turns()
  expect(await statusOf(bench, run)).toEqual({ status: 'Completed', output: 'Paid.', error: null })
  expect(callsMade(bench)).toEqual(['pay 1'])
  expect(await typesOf(bench, run)).toEqual([
    'UserMessage',
    'Reasoning',
    'PolicyDecision',
    'ToolCall',
    'ToolResult',
    'Reasoning',
    'RunCompleted',
    'SessionCompleted',
    'RunResumed',
    'Reasoning',
    'Output',
    'RunCompleted',
    'SessionCompleted',
  ])
  const told = (await bench.timeline(run)).find(({ type }) => type === 'RunResumed')!
  expect(told.content).toMatchObject({
    resumed_by: 'operator:olga',
    reason: 'the key was renewed',
    status: 'Failed',
    error: 'The key is not valid.',
  })
  const session = (await bench.store.session((await bench.store.run(run))!.sessionId))!
  expect({ status: session.status, finishedAt: session.finishedAt }).toEqual({
    status: 'Completed',
    finishedAt: T0 + 3600_000,
  })
})

test('readers of the stream see the end, the resumption and the end again', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: { root: sayInOrder(refused, 'Done.') },
  })
  const run = await bench.start('root')
  await turns()
  const failed = await bench.waitForEnd(run)
  await resume(bench, run)
  await turns()
  const read = async (after: number) => {
    const seen: string[] = []
    for await (const each of oneByOne(bench.engine.follow(run, after, AbortSignal.timeout(50_000))))
      if (each !== 'live' && each.kind !== 'step') seen.push(each.subject)
    return seen
  }
  const goesOn = ['engine.run.resumed', 'engine.session.resumed', 'engine.run.completed', 'engine.session.completed']
  expect(await read(0)).toEqual([
    'engine.session.started',
    'engine.run.started',
    'engine.run.failed',
    'engine.session.failed',
    ...goesOn,
  ])
  expect(await read('seq' in failed ? failed.seq + 1 : 0)).toEqual(goesOn)
  expect(await read((await bench.store.session((await bench.store.run(run))!.sessionId))!.lastSeq)).toEqual([])
})

test('a cancelled run asks again for the approval that nobody had given', async () => {
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [tool('pay', { sideEffectClass: 'irreversible_action' })],
        policies: [{ on: ['pay'], entry: policy('ask', {}) }],
      }),
    ],
    models: { root: inOrder({ calls: [{ name: 'pay', args: { n: 1 } }] }, 'Paid.') },
    tools: { pay: () => returns('done') },
  })
  const run = await bench.start('root')
  const first = await bench.waitForTask(run)
  await bench.engine.cancel(run, operator())
  await turns()
  expect(await bench.engine.answer(run, replyTo(first, { approved: true }))).toMatchObject({
    code: 'task_already_completed',
  })
  await resume(bench, run)
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'WaitingForHITL' })
  expect(bench.invoked).toEqual([])
  const again = await bench.waitForTask(run, 2)
  await bench.engine.answer(run, replyTo(again, { approved: true }))
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Paid.' })
  expect(callsMade(bench)).toEqual(['pay 1'])
})

test.each([
  ['read_only', 'Completed', ['pay 1', 'pay 2']],
  ['idempotent_write', 'Completed', ['pay 1', 'pay 2']],
  ['non_idempotent_write', 'WaitingForHITL', ['pay 1']],
] as const)('a %s call that was under way when its run was cancelled: %s', async (sideEffectClass, status, made) => {
  let answers = 0
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass })] })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: {
      pay: (_, signal) =>
        answers++ === 0
          ? new Promise<ToolOutcome>((resolve) => signal.addEventListener('abort', () => resolve(broken)))
          : returns('done'),
    },
  })
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  await turns()
  await resume(bench, run)
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status })
  expect(callsMade(bench)).toEqual(made)
  const keys = new Set(bench.invoked.map(({ idempotencyKey }) => idempotencyKey))
  expect(keys.size).toBe(1)
})

test('a person says of a call under way that it happened, before or after the resumption: it is not made again', async () => {
  for (const when of ['before', 'after']) {
    const bench = await openBench({
      agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass: 'non_idempotent_write' })] })],
      models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
      tools: {
        pay: (_, signal) =>
          new Promise<ToolOutcome>((resolve) => signal.addEventListener('abort', () => resolve(broken))),
      },
    })
    const run = await bench.start('root')
    await turns()
    await bench.engine.cancel(run, operator())
    const review = await bench.waitForTask(run)
    const happened = { by: operator(), selectedOptionId: 'happened', textValue: 'receipt 7' }
    if (when === 'before') await bench.engine.answer(run, replyTo(review, happened))
    await turns()
    await resume(bench, run)
    await turns()
    if (when === 'after') await bench.engine.answer(run, replyTo(await bench.waitForTask(run, 2), happened))
    await turns()
    expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Paid.' })
    expect(callsMade(bench)).toEqual(['pay 1'])
    const results = (await bench.timeline(run)).filter(({ type }) => type === 'ToolResult')
    expect(results.map(({ content }) => content['result'])).toEqual(['receipt 7'])
  }
})

test('an answer that arrives after the end is kept, and given to the run that is resumed', async () => {
  let arrive: (outcome: ToolOutcome) => void = () => {}
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass: 'non_idempotent_write' })] })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: { pay: () => new Promise<ToolOutcome>((resolve) => (arrive = resolve)) },
  })
  const run = await bench.start('root')
  await turns()
  await bench.engine.cancel(run, operator())
  await turns()
  arrive(returns('receipt 8'))
  await turns()
  await resume(bench, run)
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Paid.' })
  expect(callsMade(bench)).toEqual(['pay 1'])
  const { content } = (await bench.timeline(run)).find(({ type }) => type === 'ToolResult')!
  expect(content['result']).toBe('receipt 8')
})

test('a person who stopped a run because nobody knew is asked again when it is resumed', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass: 'non_idempotent_write' })] })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: { pay: () => broken },
  })
  const run = await bench.start('root')
  await bench.engine.answer(run, replyTo(await bench.waitForTask(run), { by: operator(), selectedOptionId: 'stop' }))
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Failed' })
  await resume(bench, run)
  const again = await bench.waitForTask(run, 2)
  expect(again['kind']).toBe('anomaly_review')
  expect(callsMade(bench)).toEqual(['pay 1'])
  await bench.engine.answer(run, replyTo(again, { by: operator(), selectedOptionId: 'skip' }))
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  expect(callsMade(bench)).toEqual(['pay 1'])
})

test('sub-agents that ended with their root go on with it', async () => {
  const child = snapshotOf({ name: 'child', tools: [tool('look'), builtin('request_input')] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, 'All done.'),
      child: inOrder(
        { calls: [{ name: 'look' }] },
        { calls: [{ name: 'request_input', args: { kind: 'text', prompt: 'Colour?' } }] },
        'Blue it is.',
      ),
    },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  await bench.waitForTask(run)
  await bench.engine.cancel(run, operator())
  await turns()
  await resume(bench, run)
  const again = await bench.waitForTask(run, 2)
  await bench.engine.answer(run, reply(again, { textValue: 'blue' }))
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'All done.' })
  expect(callsMade(bench)).toEqual(['look 1'])
  const runs = await bench.store.runsOfSession((await bench.store.run(run))!.sessionId)
  expect(runs.map(({ status }) => status)).toEqual(['Completed', 'Completed'])
})

test('a child asks its question again', async () => {
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: sayInOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, refused, 'ignored', 'All done.'),
      child: inOrder({ calls: [{ name: 'ask_parent', args: { question: 'Which?' } }] }, 'The blue one.'),
    },
  })
  const run = await bench.start('root')
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Failed' })
  await resume(bench, run)
  await turns()
  const task = await bench.waitForTask(run)
  expect(task['kind']).toBe('aitl_escalation')
  await bench.engine.answer(run, reply(task, { by: operator(), textValue: 'Blue.' }))
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'All done.' })
})

test('time in which a run had ended uses none of its wall clock', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', limits: { max_wall_clock_seconds: 60 } })],
    models: { root: sayInOrder(refused, 'Done.') },
  })
  const run = await bench.start('root')
  await turns()
  await bench.advance(24 * 3600_000)
  await resume(bench, run)
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  expect(await bench.store.nextTimerAt()).toBeUndefined()
})

test('a limit that ended the run is granted only on request', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')], limits: { max_loop_iterations: 1 } })],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, { calls: [{ name: 'look' }] }, 'Done.') },
    tools: { look: () => returns('seen') },
  })
  const run = await bench.start('root')
  await turns()
  const ended = await statusOf(bench, run)
  expect(ended).toMatchObject({ status: 'Failed', error: 'The limit max_loop_iterations of 1 is reached: 1 used.' })
  await expect(resume(bench, run)).rejects.toMatchObject({
    code: 'limit_reached',
    message: 'The limit max_loop_iterations of 1 is reached: 1 used. It would end the run again at once.',
  })
  expect(await statusOf(bench, run)).toEqual(ended)
  await resume(bench, run, { grants: true })
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Done.' })
  expect(callsMade(bench)).toEqual(['look 1', 'look 1'])
  const told = (await bench.timeline(run)).find(({ type }) => type === 'RunResumed')!
  expect(told.content['granted']).toEqual(['max_loop_iterations'])
})

test('a final answer that a limit had kept back becomes the output, without another completion', async () => {
  let asked = 0
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', limits: { max_tokens_per_run: 100 } })],
    models: {
      root: () => {
        asked++
        return { text: 'The answer.', tokens: 80 }
      },
    },
  })
  const run = await bench.start('root')
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Failed' })
  await resume(bench, run, { grants: true })
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'The answer.' })
  expect(asked).toBe(1)
})

test('a run goes on with another version, by whose policies open calls are decided', async () => {
  const tools = [tool('pay', { sideEffectClass: 'irreversible_action' })]
  const first = snapshotOf({ name: 'root', tools, policies: [{ on: ['pay'], entry: policy('ask', {}) }] })
  const second: AgentSnapshot = {
    ...snapshotOf({ name: 'root', tools, policies: [{ on: ['pay'], entry: policy('no', { effect: 'deny' }) }] }),
    version: '2.0.0',
  }
  const bench = await openBench({
    agents: [first],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Not paid.') },
    tools: { pay: () => returns('done') },
  })
  const run = await bench.start('root')
  await bench.waitForTask(run)
  await bench.engine.cancel(run, operator())
  const id = versionIdOf('test', second.id, second.digest)
  await bench.store.publish({
    workspaceId: WORKSPACE,
    agents: [{ id, agentId: agentIdOf('test', second.id), snapshot: second, closureDigest: second.digest }],
    documents: [],
    at: T0,
    by: 'test',
  })
  await resume(bench, run, { version: (await bench.store.version(id))! })
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Not paid.' })
  expect(bench.invoked).toEqual([])
  const { agentVersionId, versionLabel, sessionId } = (await bench.store.run(run))!
  expect({ agentVersionId, versionLabel }).toEqual({ agentVersionId: id, versionLabel: '2.0.0' })
  expect(await bench.store.session(sessionId)).toMatchObject({ agentVersionId: id, versionLabel: '2.0.0' })
})

test('a held run tries at once, whoever else waits for the same', async () => {
  const down = new ProviderError('Nobody listens there.', { retryable: true, outage: 'provider_unreachable' })
  let answer: ModelReply = down
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: () => answer } })
  const run = await bench.start('root')
  await bench.advance(20_000)
  expect((await bench.store.run(run))!.state.at).toBe('backing_off')
  answer = 'Back.'
  await resume(bench, run)
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed', output: 'Back.' })
})

test('what cannot be resumed stays as it is', async () => {
  const child = snapshotOf({ name: 'child', tools: [builtin('request_input')] })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), snapshotOf({ name: 'plain' }), child],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, 'Done.'),
      child: inOrder({ calls: [{ name: 'request_input', args: { kind: 'text', prompt: 'Colour?' } }] }, 'Blue.'),
      plain: sayInOrder('Done.', refused, 'Done.'),
    },
  })
  const code = async (run: RunId) =>
    resume(bench, run).then(
      () => 'resumed',
      (error: { code: string }) => error.code,
    )
  const waiting = await bench.start('root')
  await bench.waitForTask(waiting)
  expect(await code(waiting)).toBe('run_not_ended')
  const { sessionId } = (await bench.store.run(waiting))!
  const below = (await bench.store.runsOfSession(sessionId))[1]!
  expect(await code(below.id)).toBe('not_a_root_run')
  const completed = await bench.start('plain')
  await turns()
  expect(await code(completed)).toBe('run_completed')
  const failed = await bench.start('plain')
  await turns()
  const session = (await bench.store.run(failed))!.sessionId
  await bench.engine.start(startOf('plain', {}, { continued: { sessionId: session } }))
  await turns()
  expect(await code(failed)).toBe('session_went_on')
  expect(await statusOf(bench, failed)).toMatchObject({ status: 'Failed' })
  expect(await code('0193b2a0-0000-7000-8000-000000000000' as RunId)).toBe('not_found')
  await bench.engine.erase(session)
  expect(await code(failed)).toBe('session_erased')
})

test('a resumption that its process does not outlive goes on at the next start', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: { root: sayInOrder(refused, 'Done.') },
  })
  const run = await bench.start('root')
  await turns()
  await resume(bench, run)
  await bench.restart()
  await bench.advance(1)
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
})
