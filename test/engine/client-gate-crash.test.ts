/**
 * The process crashes before and after every commit and every send of a client's calls. Wherever it does, the client that asks again
 * with the same ids finds each outcome, and no unsafe call is made twice or without its approval.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentIdOf } from '../../src/base/ids.ts'
import type { ClientCall, ClientCallAnswer } from '../../src/engine/interface/client-call.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import { key, openBench, operator, policy, returns, snapshotOf, startOf, tool, turns, WORKSPACE } from './bench.ts'
import { cases } from '../cases.ts'
import { createCrashingProcess, type Crash } from './crashing-process.ts'

const SCHEDULES = Number(process.env['SVC_SCHEDULES'] ?? cases(25))

/** Together, then one after another, then after the idle end; each once a round until it is settled. */
const WAVES = [['look', 'pay', 'post'], ['post'], ['put', 'pay'], ['idle'], ['post', 'look']] as const

async function live(crashes: readonly Crash[], classOfPost: SideEffectClass = 'non_idempotent_write') {
  const effects = new Map<string, number>()
  const world = createCrashingProcess(crashes)
  const happen = ({ idempotencyKey }: { idempotencyKey: string }) =>
    world.send(() => {
      effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1)
      return returns({ done: true })
    })
  const desk = snapshotOf({
    name: 'desk',
    model: { provider: 'external', name: 'client' },
    tools: [
      tool('look'),
      tool('put', { sideEffectClass: 'idempotent_write' }),
      tool('post', { sideEffectClass: classOfPost }),
      tool('pay', { sideEffectClass: 'irreversible_action' }),
    ],
    policies: [{ on: ['pay'], entry: policy('pay', {}) }],
  })
  const bench = await openBench({
    agents: [desk],
    models: {},
    tools: { look: happen, put: happen, post: happen, pay: happen },
    store: world.wrap,
  })
  const answers = new Map<string, ClientCallAnswer>()
  let reviews = 0

  async function decideAll(): Promise<void> {
    const { items } = await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })
    for (const task of items[0] ? await bench.store.pendingTasks(items[0].id) : []) {
      if (world.hasCrashed()) return
      const happened = effects.has(task.context?.['idempotency_key'] as string)
      const isReview = task.kind === 'anomaly_review'
      if (isReview) reviews++
      await bench.engine
        .answer(task.runId, {
          taskId: task.id,
          by: operator(),
          ...(isReview
            ? { selectedOptionId: happened ? 'happened' : 'retry', textValue: '{"done":true}' }
            : { approved: true, metadata: { 'svc/arguments_digest': task.argumentsDigest! } }),
        })
        .catch(() => {})
    }
  }

  for (const [wave, names] of WAVES.entries()) {
    if (names[0] === 'idle') {
      await bench.advance(3600_000)
      if (world.hasCrashed()) {
        world.restart()
        await bench.restart()
        await bench.advance(1000)
      }
      continue
    }
    for (let round = 0; round < 40; round++) {
      const open = names.map((name, at) => [`${wave}_${at}`, name] as const).filter(([id]) => !answers.has(id))
      if (open.length === 0) break
      const patience = new AbortController()
      const made = open.map(async ([callId, name]) => {
        const call: ClientCall = {
          workspaceId: WORKSPACE,
          agentId: agentIdOf('test', 'acme.desk'),
          principal: key('k1', 'desk'),
          conversation: 'c-1',
          callId,
          tool: name,
          arguments: { callId },
          limits: startOf('desk').limits,
        }
        const answer = await bench.engine.gate.callTool(call, { signal: patience.signal })
        if (answer.at === 'settled') answers.set(callId, answer)
      })
      const all = Promise.allSettled(made)
      await turns(30)
      if (!world.hasCrashed()) await decideAll()
      await turns(30)
      patience.abort()
      // A crashed process answers nobody.
      await Promise.race([all, turns(30)])
      if (world.hasCrashed()) {
        world.restart()
        await bench.restart()
      }
      await bench.advance(64_000)
    }
  }
  return { bench, answers, effects, steps: world.steps(), reviews }
}

type History = Awaited<ReturnType<typeof live>>

async function check({ bench, answers, effects }: History): Promise<void> {
  const wanted = WAVES.flatMap((names, wave) => (names[0] === 'idle' ? [] : names.map((_, at) => `${wave}_${at}`)))
  expect([...answers.keys()].toSorted()).toEqual(wanted.toSorted())
  for (const answer of answers.values())
    expect(answer).toMatchObject({ at: 'settled', outcome: 'executed', isError: false })
  const unsafe = bench.invoked.filter(({ tool: { wire } }) => wire === 'pay' || wire === 'post')
  for (const each of unsafe) expect([each.tool.wire, effects.get(each.idempotencyKey)]).toEqual([each.tool.wire, 1])
  expect(new Set(unsafe.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5)
  // One key for each call: no two calls of overlapping turns share one.
  expect(effects.size).toBe(wanted.length)
  const { items } = await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 9 })
  expect(items).toHaveLength(1)
  const { id } = items[0]!
  const steps = await bench.store.stepsOfSession(id)
  expect(steps.map(({ ordinal }) => ordinal)).toEqual(steps.map((_, at) => at + 1))
  const events = await bench.store.events(id, 0, 1000)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  for (const sent of steps.filter(({ type, content }) => type === 'ToolCall' && content['name'] === 'pay')) {
    const approved = steps.find(
      ({ type, content, ordinal }) => type === 'UserTaskRes' && content['approved'] === true && ordinal < sent.ordinal,
    )
    expect(approved).toBeDefined()
  }
  await bench.engine.close(0)
}

test('a client finds every outcome without a crash', async () => {
  const history = await live([])
  await check(history)
  expect(history.reviews).toBe(0)
})

test('a client finds every outcome, and nothing is made twice, after a crash before or after any commit or send', async () => {
  const { steps, bench } = await live([])
  await bench.engine.close(0)
  let reviews = 0
  for (let at = 1; at <= steps; at++) {
    for (const after of [false, true]) {
      const history = await live([{ at, after }])
      await check(history)
      reviews += history.reviews
    }
  }
  expect(reviews).toBeGreaterThan(0)
}, 120_000)

test('repeats a write declared read-only after some crash: the simulation notices', async () => {
  const { steps, bench } = await live([])
  await bench.engine.close(0)
  let doubled = 0
  for (let at = 1; at <= steps; at++) {
    const history = await live([{ at, after: true }], 'read_only')
    const posts = history.bench.invoked.filter(({ tool: { wire } }) => wire === 'post')
    if (posts.some(({ idempotencyKey }) => history.effects.get(idempotencyKey)! > 1)) doubled++
    await history.bench.engine.close(0)
  }
  expect(doubled).toBeGreaterThan(0)
}, 120_000)

test(
  'a client finds every outcome after two or three crashes anywhere',
  async () => {
    const crash = fc.record({ at: fc.integer({ min: 1, max: 50 }), after: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(crash, { minLength: 2, maxLength: 3, selector: ({ at }) => at }),
        async (crashes) => check(await live(crashes)),
      ),
      { numRuns: SCHEDULES },
    )
  },
  60_000 + SCHEDULES * 1000,
)
