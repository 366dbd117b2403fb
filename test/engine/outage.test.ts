/** Outages hold a run instead of ending it. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail */
import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import type { RunId } from '../../src/base/ids.ts'
import { ProviderError, type ModelProviders } from '../../src/providers/provider.ts'
import { outageHold } from '../../src/spec/run/hold.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import {
  openBench,
  operator,
  policy,
  replyTo,
  returns,
  snapshotOf,
  T0,
  tool,
  turns,
  type Bench,
  type ModelReply,
} from './bench.ts'

const down = new ProviderError('Nobody listens there.', { retryable: true, outage: 'provider_unreachable' })
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const holdOf = async (bench: Bench, run: RunId) => outageHold((await bench.store.run(run))!)
const statusOf = async (bench: Bench, run: RunId) => {
  const { status, error, errorCode } = (await bench.store.run(run))!
  return { status, error, errorCode }
}
const eventsOf = async (bench: Bench, run: RunId) => {
  const { sessionId } = (await bench.store.run(run))!
  return (await bench.store.events(sessionId, 0, 1000)).filter(
    ({ runId, subject }) => runId === run && subject.startsWith('engine.run.'),
  )
}

/** An agent whose model is out of reach until it is given an answer. */
async function withModel(about: Partial<AgentSnapshot> = {}) {
  const model: { answer: ModelReply; asked: number } = { answer: down, asked: 0 }
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root' }), ...about }],
    models: {
      root: () => {
        model.asked++
        return model.answer
      },
    },
  })
  return { bench, model }
}

test('a run whose model cannot be reached is held after three attempts, and goes on by itself', async () => {
  const { bench, model } = await withModel()
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(model.asked).toBe(3)
  expect(await statusOf(bench, run)).toEqual({ status: 'Running', error: null, errorCode: null })
  const hold = {
    reason: 'provider_unreachable',
    since: new Date(T0).toISOString(),
    nextAttemptAt: new Date(T0 + 6500).toISOString(),
  }
  expect(await holdOf(bench, run)).toEqual(hold)
  model.answer = 'Here again.'
  await bench.advance(5000)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  const told = (await eventsOf(bench, run)).map(({ subject, data }) => [subject, data['status'], data['hold']])
  expect(told).toEqual([
    ['engine.run.started', 'Running', undefined],
    ['engine.run.paused', 'Running', hold],
    ['engine.run.completed', 'Completed', undefined],
  ])
})

/** A tool whose connections break, or that asks to wait, and a model that repeats what it answered. */
async function withFaultyTool(sideEffectClass: 'read_only' | 'idempotent_write' | 'non_idempotent_write') {
  const outcomes: ToolOutcome[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('put', { sideEffectClass })] })],
    models: { root: ({ messages }) => (messages.length > 1 ? 'Done.' : { calls: [{ name: 'put' }] }) },
    tools: { put: () => outcomes.shift() ?? returns('stored') },
  })
  const keys = () => new Set(bench.invoked.map(({ idempotencyKey }) => idempotencyKey))
  return { bench, outcomes, keys }
}
const broken: ToolOutcome = { at: 'unknown', code: 'broken', error: 'The connection broke.' }
const refused: ToolOutcome = { at: 'not_sent', code: 'unreachable', error: 'Nobody listens there.' }

test.each(['read_only', 'idempotent_write'] as const)(
  'a call of class %s whose tool dies during it is held until the tool is back, and made with the same key',
  async (sideEffectClass) => {
    const { bench, outcomes, keys } = await withFaultyTool(sideEffectClass)
    outcomes.push(broken, ...Array.from({ length: 6 }, () => refused))
    const run = await bench.start('root')
    await bench.advance(2000)
    expect(bench.invoked).toHaveLength(3)
    expect(await holdOf(bench, run)).toMatchObject({ reason: 'tool_unreachable' })
    await bench.advance(5 * MINUTE)
    expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
    expect([bench.invoked.length, keys().size]).toEqual([8, 1])
  },
)

test('a person is asked about a write that broke off ten times, and a model reads of such a read', async () => {
  for (const [sideEffectClass, status] of [
    ['idempotent_write', 'WaitingForHITL'],
    ['read_only', 'Completed'],
  ] as const) {
    const { bench, outcomes } = await withFaultyTool(sideEffectClass)
    outcomes.push(...Array.from({ length: 20 }, () => broken))
    const run = await bench.start('root')
    await bench.advance(HOUR)
    expect(bench.invoked).toHaveLength(10)
    expect(await statusOf(bench, run)).toMatchObject({ status })
  }
})

test('a call that broke off and may not be repeated is a question for a person at once', async () => {
  const { bench, outcomes } = await withFaultyTool('non_idempotent_write')
  outcomes.push(broken)
  const run = await bench.start('root')
  expect(await bench.waitForTask(run)).toMatchObject({ kind: 'anomaly_review' })
  await bench.advance(HOUR)
  expect(bench.invoked).toHaveLength(1)
})

test('a tool that asks to wait is called when it said, also for a payment', async () => {
  const { bench, outcomes } = await withFaultyTool('non_idempotent_write')
  outcomes.push({ ...refused, error: 'Too many requests.', retryAfterMs: 10 * MINUTE })
  const run = await bench.start('root')
  await bench.advance(0)
  expect(await holdOf(bench, run)).toEqual({
    reason: 'tool_unreachable',
    since: new Date(T0).toISOString(),
    nextAttemptAt: new Date(T0 + 10 * MINUTE).toISOString(),
  })
  await bench.advance(9 * MINUTE)
  expect(bench.invoked).toHaveLength(1)
  await bench.advance(MINUTE)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  expect(bench.invoked).toHaveLength(2)
})

test('a run that waits for the attempt of another one shows when that is due', async () => {
  const { bench } = await withModel()
  const runs = [await bench.start('root'), await bench.start('root')]
  await bench.advance(7000)
  const next = async (run: RunId, isShown: boolean) => {
    const stored = (await bench.store.run(run))!
    const hold = outageHold(stored, isShown ? bench.engine.nextAttempt : undefined)
    return Date.parse(hold!.nextAttemptAt!) - bench.clock.now()
  }
  const shown = await Promise.all(runs.map((run) => next(run, true)))
  expect(Math.max(...shown)).toBeLessThanOrEqual(10_000)
  // Its own timer is only for the case that nobody makes that attempt.
  const own = await Promise.all(runs.map((run) => next(run, false)))
  expect(Math.max(...own)).toBeGreaterThan(4 * MINUTE)
})

test('a held run that works on after its model answered is told as resumed', async () => {
  const look = tool('look')
  const answers: ModelReply[] = [down, down, down, { calls: [{ name: 'look' }] }, 'Done.']
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look] })],
    models: { root: () => answers.shift()! },
    tools: { look: () => returns('there') },
  })
  const run = await bench.start('root')
  await bench.advance(10_000)
  expect((await eventsOf(bench, run)).map(({ subject }) => subject)).toEqual([
    'engine.run.started',
    'engine.run.paused',
    'engine.run.resumed',
    'engine.run.completed',
  ])
})

test('attempts back off to five minutes, and those that cost nothing add no steps', async () => {
  const { bench, model } = await withModel()
  const run = await bench.start('root')
  await bench.advance(2 * HOUR)
  // 3 at once, then after 5, 10, 20, 40, 80, 160 s, then every 5 minutes.
  expect(model.asked).toBe(3 + 6 + Math.floor((2 * HOUR - 1500 - 315_000) / 300_000))
  expect((await bench.timeline(run)).filter(({ type }) => type === 'Reasoning')).toHaveLength(3)
})

test('an outage that outlasts svc/max-outage fails the run', async () => {
  const { bench } = await withModel({ maxOutageMs: HOUR })
  const run = await bench.start('root')
  await bench.advance(HOUR - 1)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Running' })
  await bench.advance(1)
  expect(await statusOf(bench, run)).toEqual({
    status: 'Failed',
    error: 'Held for 60 min, the longest that is allowed. Nobody listens there.',
    errorCode: 'outage',
  })
  expect(await bench.store.nextTimerAt()).toBeUndefined()
})

test('svc/on-outage fail fails the run after three attempts, with the message of the provider', async () => {
  const { bench, model } = await withModel({ onOutage: 'fail' })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(model.asked).toBe(3)
  expect(await statusOf(bench, run)).toEqual({
    status: 'Failed',
    error: 'Nobody listens there.',
    errorCode: 'model_error',
  })
})

test('the wall clock of a held run goes on', async () => {
  const { bench } = await withModel({ limits: { max_wall_clock_seconds: 60 } })
  const run = await bench.start('root')
  await bench.advance(61_000)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Failed', errorCode: 'limit_exceeded' })
  expect(await bench.store.nextTimerAt()).toBeUndefined()
})

test.each([
  [7200_000, HOUR],
  [20_000, 20_000],
])('a model that asks to wait %i ms holds the run at once, for at most an hour', async (retryAfterMs, waits) => {
  const { bench, model } = await withModel()
  model.answer = new ProviderError('Busy.', { retryable: true, outage: 'provider_unreachable', retryAfterMs })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(model.asked).toBe(1)
  const nextAttemptAt = new Date(T0 + waits).toISOString()
  expect(await holdOf(bench, run)).toMatchObject({ reason: 'provider_unreachable', nextAttemptAt })
  model.answer = 'Here again.'
  await bench.advance(waits)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
})

test('with svc/on-outage fail a model that asks to wait for long fails the run at once', async () => {
  const { bench, model } = await withModel({ onOutage: 'fail' })
  model.answer = new ProviderError('Busy.', { retryable: true, outage: 'provider_unreachable', retryAfterMs: 20_000 })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(model.asked).toBe(1)
  expect(await statusOf(bench, run)).toEqual({ status: 'Failed', error: 'Busy.', errorCode: 'model_error' })
  expect(await bench.store.nextTimerAt()).toBeUndefined()
})

test('with svc/on-outage fail a model that asks to wait for seconds is asked three times', async () => {
  const { bench, model } = await withModel({ onOutage: 'fail' })
  model.answer = new ProviderError('Busy.', { retryable: true, outage: 'provider_unreachable', retryAfterMs: 5000 })
  const run = await bench.start('root')
  await bench.advance(4999)
  expect(model.asked).toBe(1)
  await bench.advance(5001)
  expect(model.asked).toBe(3)
  expect(await statusOf(bench, run)).toEqual({ status: 'Failed', error: 'Busy.', errorCode: 'model_error' })
})

test('a model that asks to wait for seconds is waited for without a hold', async () => {
  const { bench, model } = await withModel()
  model.answer = new ProviderError('Busy.', { retryable: true, outage: 'provider_unreachable', retryAfterMs: 5000 })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(await holdOf(bench, run)).toBeUndefined()
})

test('a quota that is spent holds a run at once, and Retry-After is obeyed up to an hour', async () => {
  const { bench, model } = await withModel()
  model.answer = new ProviderError('No quota.', { retryable: true, outage: 'quota_spent', retryAfterMs: 30 * HOUR })
  const run = await bench.start('root')
  await turns()
  expect(await holdOf(bench, run)).toEqual({
    reason: 'quota_spent',
    since: new Date(T0).toISOString(),
    nextAttemptAt: new Date(T0 + HOUR).toISOString(),
  })
  await bench.advance(HOUR - 1)
  expect(model.asked).toBe(1)
  model.answer = 'Paid.'
  await bench.advance(1)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
})

test('one run tries for all that miss the same model, and when it is answered the others go on', async () => {
  const { bench, model } = await withModel()
  const runs = await Promise.all(Array.from({ length: 40 }, () => bench.start('root')))
  await bench.advance(2000)
  expect(model.asked).toBe(40 * 3)
  await bench.advance(HOUR)
  // As often as one run alone would have asked.
  const attempts = model.asked - 40 * 3
  expect(attempts).toBeGreaterThan(10)
  expect(attempts).toBeLessThan(20)
  model.answer = 'Here again.'
  await bench.advance(5 * MINUTE)
  for (const run of runs) expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
})

test('runs that waited for the attempt of a run that was cancelled go on all the same', async () => {
  const { bench, model } = await withModel()
  const [first, second] = [await bench.start('root'), await bench.start('root')]
  await bench.advance(20_000)
  const leader = (
    await Promise.all([first, second].map(async (run) => ({ run, hold: await holdOf(bench, run) })))
  ).sort((a, b) => a.hold!.nextAttemptAt!.localeCompare(b.hold!.nextAttemptAt!))[0]!.run
  await bench.engine.cancel(leader, operator())
  model.answer = 'Here again.'
  await bench.advance(15 * MINUTE)
  expect(await statusOf(bench, leader === first ? second : first)).toMatchObject({ status: 'Completed' })
})

test('a secret that is missing after a restart holds the run, and the next start with it goes on at once', async () => {
  let isSet = true
  const look = tool('look')
  const providers: ModelProviders = {
    choose() {
      if (!isSet) throw fail('secret_not_set', { secret: 'openai', env: 'OPENAI_API_KEY' })
      return {
        async *complete({ run }) {
          const usage = { inputTokens: 1, outputTokens: 1 }
          await Promise.resolve()
          yield {
            type: 'end',
            completion:
              run.turn === 1
                ? { text: '', finishReason: 'tool_calls', calls: [{ id: 'a', name: 'look', arguments: {} }], usage }
                : { text: 'Done.', finishReason: 'stop', calls: [], usage },
          }
        },
      }
    },
    maxOutputTokens: () => 100,
    terms: () => ({ price: 'free' }),
  }
  const gate = policy('gate', {})
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look], policies: [{ on: ['look'], entry: gate }] })],
    models: {},
    providers,
    tools: { look: () => returns('there') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  isSet = false
  await bench.restart()
  await bench.engine.answer(run, replyTo(task, { by: operator() }))
  await turns()
  expect(await holdOf(bench, run)).toMatchObject({ reason: 'secret_missing' })
  await bench.advance(HOUR)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Running' })
  isSet = true
  await bench.restart()
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  expect(JSON.stringify(await eventsOf(bench, run))).not.toContain('OPENAI_API_KEY')
})

const gone: ToolOutcome = { at: 'not_sent', code: 'unreachable', error: 'orders.example cannot be reached.' }

/** An agent that calls one tool, whose outcomes the test gives. */
async function withTool(outcome: { now: ToolOutcome }, about: Partial<AgentSnapshot> = {}, gate = false) {
  const pay = tool('pay', { sideEffectClass: 'non_idempotent_write' })
  const read: string[] = []
  const bench = await openBench({
    agents: [
      {
        ...snapshotOf({
          name: 'root',
          tools: [pay],
          ...(gate && { policies: [{ on: ['pay'], entry: policy('gate', {}) }] }),
        }),
        ...about,
      },
    ],
    models: {
      root: ({ run, messages }) => {
        if (run.turn === 1) return { calls: [{ name: 'pay', args: { amount: 5 } }] }
        const last = messages.at(-1)!
        read.push(last.role === 'tool' ? last.content : '')
        return 'Done.'
      },
    },
    tools: { pay: () => outcome.now },
  })
  return { bench, read }
}

test('a call of any class whose tool cannot be reached is held, and made once when it can', async () => {
  const outcome: { now: ToolOutcome } = { now: gone }
  const { bench, read } = await withTool(outcome)
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(bench.invoked).toHaveLength(3)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Running' })
  expect(await holdOf(bench, run)).toMatchObject({ reason: 'tool_unreachable' })
  outcome.now = returns({ paid: true })
  await bench.advance(5000)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  expect(new Set(bench.invoked.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  expect(bench.invoked).toHaveLength(4)
  expect(read).toEqual(['{"paid":true}'])
  expect((await eventsOf(bench, run)).map(({ subject }) => subject)).toEqual([
    'engine.run.started',
    'engine.run.paused',
    'engine.run.resumed',
    'engine.run.completed',
  ])
})

test('an unsafe call waits for one before it that is held: their order is the order of the model', async () => {
  const order = ['pay', 'tell'].map((name) => tool(name, { sideEffectClass: 'non_idempotent_write' }))
  let paying: ToolOutcome = gone
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: order })],
    models: { root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'pay' }, { name: 'tell' }] } : 'Done.') },
    tools: { pay: () => paying, tell: () => returns('told') },
  })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['pay', 'pay', 'pay'])
  paying = returns('paid')
  await bench.advance(5000)
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['pay', 'pay', 'pay', 'pay', 'tell'])
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
})

test('with svc/on-outage fail the model is told after three attempts', async () => {
  const { bench, read } = await withTool({ now: gone }, { onOutage: 'fail' })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  expect(bench.invoked).toHaveLength(3)
  expect(JSON.parse(read[0]!)).toEqual({ error: 'dispatch:unreachable', message: 'orders.example cannot be reached.' })
})

test('a call that was held for too long fails the run, and leaves no timer', async () => {
  const { bench, read } = await withTool({ now: gone }, { maxOutageMs: 10 * MINUTE })
  const run = await bench.start('root')
  await bench.advance(11 * MINUTE)
  expect(await statusOf(bench, run)).toEqual({
    status: 'Failed',
    error: 'Held for 10 min, the longest that is allowed. orders.example cannot be reached.',
    errorCode: 'outage',
  })
  expect(read).toEqual([])
  expect(await bench.store.nextTimerAt()).toBeUndefined()
})

test('an approved call that is held keeps its approval, and is authorized again before it is made', async () => {
  const outcome: { now: ToolOutcome } = { now: gone }
  const { bench } = await withTool(outcome, {}, true)
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, replyTo(task, { by: operator() }))
  await bench.advance(2000)
  expect(await holdOf(bench, run)).toMatchObject({ reason: 'tool_unreachable' })
  outcome.now = returns({ paid: true })
  await bench.advance(5000)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
  expect((await bench.timeline(run)).filter(({ type }) => type === 'UserTaskReq')).toHaveLength(1)
})

test('a held run that is cancelled leaves nothing behind', async () => {
  const { bench } = await withTool({ now: gone })
  const run = await bench.start('root')
  await bench.advance(2000)
  await bench.engine.cancel(run, operator())
  await turns()
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Cancelled' })
  expect(await bench.store.nextTimerAt()).toBeUndefined()
  expect((await bench.store.calls({})).map(({ state }) => state)).toEqual(['skipped'])
})

test('a restart keeps what is held, with the time of its next attempt', async () => {
  const outcome: { now: ToolOutcome } = { now: gone }
  const { bench } = await withTool(outcome)
  const run = await bench.start('root')
  await bench.advance(2000)
  const before = await holdOf(bench, run)
  await bench.restart()
  await turns()
  expect(await holdOf(bench, run)).toEqual(before)
  outcome.now = returns({ paid: true })
  await bench.advance(5000)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
})

test('a run whose files cannot be read is held, and goes on when they can', async () => {
  const { bench, model } = await withModel()
  model.answer = fail('bucket_unusable', { bucket: 's3://files', why: 'to get an object failed (SlowDown)' })
  const run = await bench.start('root')
  await bench.advance(2000)
  expect(await statusOf(bench, run)).toEqual({ status: 'Running', error: null, errorCode: null })
  expect(await holdOf(bench, run)).toMatchObject({ reason: 'files_unreachable' })
  model.answer = 'Read.'
  await bench.advance(5000)
  expect(await statusOf(bench, run)).toMatchObject({ status: 'Completed' })
})
