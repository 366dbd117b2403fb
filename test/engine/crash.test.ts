/**
 * The process crashes before and after every commit and every send, once and several times. Wherever it does: no effect of an
 * unsafe call happens twice, none happens without its approval, every run ends, and the event log has no gap.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import type { CompletionRequest } from '../../src/providers/provider.ts'
import { SUBJECTS, type StoredEvent } from '../../src/spec/event.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { RunStep } from '../../src/spec/step.ts'
import {
  boundAgent,
  inOrder,
  key,
  openBench,
  operator,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  WORKSPACE,
  type Bench,
} from './bench.ts'
import { createCrashingProcess, type Crash } from './crashing-process.ts'
import { cases } from '../cases.ts'

const SCHEDULES = Number(process.env['SVC_SCHEDULES'] ?? cases(40))

/** Id of the question that the root was asked last. */
const questionIn = ({ run }: CompletionRequest): string =>
  ((run.results.at(-1)?.result ?? {}) as { request_id?: string }).request_id ?? ''

interface History {
  readonly bench: Bench
  readonly run: RunId
  readonly session: SessionId
  /** Effects in the world, by idempotency key. */
  readonly effects: Map<string, number>
  readonly steps: number
  readonly reviews: number
}

/** @param classOfPost what `post` says it is; it is a write that must not happen twice */
function agentsWith(classOfPost: SideEffectClass) {
  const child = snapshotOf({ name: 'child', tools: [tool('post', { sideEffectClass: classOfPost })] })
  const asker = snapshotOf({ name: 'asker' })
  const root = snapshotOf({
    name: 'root',
    tools: [
      tool('look'),
      tool('put', { sideEffectClass: 'idempotent_write' }),
      tool('pay', { sideEffectClass: 'irreversible_action' }),
    ],
    agents: [boundAgent(child), boundAgent(asker)],
  })
  return [root, child, asker]
}

async function live(
  crashes: readonly Crash[],
  classOfPost: SideEffectClass = 'non_idempotent_write',
): Promise<History> {
  const effects = new Map<string, number>()
  const world = createCrashingProcess(crashes)
  const happen = ({ idempotencyKey }: { idempotencyKey: string }) =>
    world.send(() => {
      effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1)
      return returns({ done: true })
    })
  const bench = await openBench({
    agents: agentsWith(classOfPost),
    models: {
      root: (request) =>
        inOrder(
          {
            calls: [
              { name: 'look' },
              { name: 'pay', args: { amount: 5 } },
              { name: 'put', args: { k: 1 } },
              { name: 'child', args: { message: 'go' } },
            ],
          },
          { calls: [{ name: 'pay', args: { amount: 6 } }] },
          { calls: [{ name: 'asker', args: { message: 'go' } }] },
          { calls: [{ name: 'answer_subagent', args: { request_id: questionIn(request), answer: 'blue' } }] },
          { calls: [{ name: 'escalate_to_person', args: { request_id: questionIn(request) } }] },
          'All done.',
        )(request, new AbortController().signal),
      child: inOrder({ calls: [{ name: 'post', args: { text: 'x' } }] }, 'Posted.'),
      asker: (request) =>
        inOrder(
          { calls: [{ name: 'ask_parent', args: { question: 'Which colour?' } }] },
          { calls: [{ name: 'ask_parent', args: { question: 'Which size?' } }] },
          `Made it ${request.run.results.map((each) => (each.result as { answer: string }).answer).join(' and ')}.`,
        )(request, new AbortController().signal),
    },
    tools: { look: happen, put: happen, pay: happen, post: happen },
    store: world.wrap,
  })
  let session: SessionId | undefined
  let reviews = 0
  for (let round = 0; round < 40; round++) {
    await turns(20)
    if (world.hasCrashed()) {
      world.restart()
      await bench.restart()
      continue
    }
    session ??= (await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })).items[0]?.id
    if (!session) {
      await bench.engine.start(startOf('root')).catch(() => {})
      continue
    }
    if ((await bench.store.session(session))!.finishedAt !== null) break
    await bench.advance(64_000)
    for (const task of await bench.store.tasksOfSession(session)) {
      if (task.status !== 'pending' || world.hasCrashed()) continue
      const happened = effects.has(task.context?.['idempotency_key'] as string)
      const answer =
        task.kind === 'anomaly_review'
          ? { selectedOptionId: happened ? 'happened' : 'retry', textValue: 'seen', by: operator() }
          : task.kind === 'aitl_escalation'
            ? { textValue: 'large', by: operator() }
            : { approved: true, by: key() }
      if (task.kind === 'anomaly_review') reviews++
      await bench.engine.answer(task.runId, { taskId: task.id, ...answer }).catch(() => {})
    }
  }
  const { rootRunId } = (await bench.store.session(session!))!
  return { bench, run: rootRunId, session: session!, effects, steps: world.steps(), reviews }
}

/** Steps that the events of the run and the session stand for. */
const SILENT: ReadonlySet<string> = new Set(['RunCompleted', 'SessionCompleted'])

/** How many events say that a step ended. */
const endsOf = (events: readonly StoredEvent[], step: RunStep): number =>
  events.filter(
    ({ subject, data }) =>
      (subject === 'engine.step.completed' || subject === 'engine.step.failed') &&
      (data['step'] as { id?: string }).id === step.id,
  ).length

async function check({ bench, session, run, effects }: History): Promise<void> {
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: 'All done.' })
  for (const each of await bench.store.runsOfSession(session)) expect(each.state.at).toBe('done')
  const unsafe = bench.invoked.filter((each) => each.tool.wire === 'pay' || each.tool.wire === 'post')
  for (const each of unsafe) expect(effects.get(each.idempotencyKey)).toBe(1)
  expect(new Set(unsafe.map((each) => each.idempotencyKey)).size).toBe(3)
  for (const [name, times] of effects) expect([name, times >= 1]).toEqual([name, true])

  const events = await bench.store.events(session, 0, 1000)
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.filter(({ kind, subject }) => !SUBJECTS[kind].includes(subject))).toEqual([])
  expect(events.filter((event) => event.subject === 'engine.session.completed')).toHaveLength(1)
  expect(events.at(-1)!.subject).toBe('engine.session.completed')
  const steps = await bench.store.stepsOfSession(session)
  expect(steps.map((step) => step.ordinal)).toEqual(steps.map((_, index) => index + 1))
  for (const each of await bench.store.runsOfSession(session)) {
    const own = steps.filter((step) => step.runId === each.id)
    expect(own.map((step) => step.sequence)).toEqual(own.map((_, index) => index + 1))
    expect(own.filter((step) => step.finishedAt === null)).toEqual([])
    expect(own.map((step) => [step.type, endsOf(events, step)])).toEqual(
      own.map((step) => [step.type, SILENT.has(step.type) ? 0 : 1]),
    )
  }
  // No payment was sent before somebody approved exactly it.
  const approvals = steps.filter((step) => step.type === 'UserTaskRes' && step.content['approved'] === true)
  expect(approvals.length).toBeGreaterThanOrEqual(2)
  // Both questions of the sub-agent were answered once, one by its parent's model and one by a person.
  const answers = steps.filter((step) => step.type === 'AitlResponse')
  expect(answers.map((step) => [step.content['answer'], step.content['answered_by']])).toEqual([
    ['blue', 'parent'],
    ['large', 'person'],
  ])
  const made = (await bench.store.runsOfSession(session)).find((each) => each.agentName === 'acme.asker')
  expect(made?.output).toBe('Made it blue and large.')
  for (const sent of steps.filter((step) => step.type === 'ToolCall' && step.content['name'] === 'pay')) {
    const asked = steps.find(
      (step) =>
        step.type === 'UserTaskReq' &&
        JSON.stringify(step.content['arguments']) === JSON.stringify(sent.content['arguments']),
    )
    const answered = steps.find(
      (step) => step.type === 'UserTaskRes' && step.content['user_task_id'] === asked?.content['user_task_id'],
    )
    expect(answered!.ordinal).toBeLessThan(sent.ordinal)
  }
  await bench.engine.close(0)
}

test('asks nothing twice without a crash', async () => {
  const history = await live([])
  await check(history)
  expect(history.reviews).toBe(0)
  expect(history.bench.invoked).toHaveLength(5)
})

test('loses and repeats nothing after a crash before or after any commit or send', async () => {
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
  // Some crashes leave an unknown outcome, which opens a review.
  expect(reviews).toBeGreaterThan(0)
})

test('repeats a write declared read-only after some crash: the simulation notices', async () => {
  const { steps, bench } = await live([])
  await bench.engine.close(0)
  let doubled = 0
  for (let at = 1; at <= steps; at++) {
    const history = await live([{ at, after: false }], 'read_only')
    const posts = history.bench.invoked.filter((each) => each.tool.wire === 'post')
    if (posts.some((each) => history.effects.get(each.idempotencyKey)! > 1)) doubled++
    await history.bench.engine.close(0)
  }
  expect(doubled).toBeGreaterThan(0)
})

test(
  'loses and repeats nothing after two or three crashes anywhere',
  async () => {
    const crash = fc.record({ at: fc.integer({ min: 1, max: 60 }), after: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(crash, { minLength: 2, maxLength: 3 }), async (crashes) => {
        const ordered = [...crashes]
          .sort((a, b) => a.at - b.at)
          .filter((each, index, all) => each.at !== all[index - 1]?.at)
        await check(await live(ordered))
      }),
      { numRuns: SCHEDULES },
    )
  },
  60_000 + SCHEDULES * 500,
)
