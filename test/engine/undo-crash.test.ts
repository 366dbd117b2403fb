/**
 * The process crashes before and after every commit and every send of an undo, once and several times, and operators ask again
 * whenever they got no answer. Wherever it crashes: nothing is undone twice, nothing without its approval, nothing before what is
 * newer, and the run stays as it ended.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { UndoRequest } from '../../src/engine/interface/engine.ts'
import { ProviderError } from '../../src/providers/provider.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import { inOrder, openBench, operator, policy, returns, snapshotOf, tool, turns, type Bench } from './bench.ts'
import { createCrashingProcess, type Crash } from './crashing-process.ts'
import { cases } from '../cases.ts'

const SCHEDULES = Number(process.env['SVC_SCHEDULES'] ?? cases(40))
const olga = operator() as UndoRequest['by']
const ROOMS = [1, 2, 3]

interface UndoHistory {
  readonly bench: Bench
  readonly run: RunId
  /** Rooms in the order in which they were given back, as the hotel saw it. */
  readonly givenBack: readonly number[]
  readonly reviews: number
  /** Commits and sends before the undo, and in all. */
  readonly before: number
  readonly steps: number
}

type Opinion = 'approve' | 'reject' | 'cancel'

/**
 * @param undoneAs what the tool that undoes says it is; it must not happen twice
 * @param opinions of people about one approval after another; then they approve
 */
async function live(
  crashes: readonly Crash[],
  undoneAs: SideEffectClass = 'non_idempotent_write',
  opinions: readonly Opinion[] = [],
): Promise<UndoHistory> {
  const world = createCrashingProcess(crashes)
  const givenBack: number[] = []
  const labels = { 'svc/undone-by': 'acme.unbook', 'svc/undo-arguments': '{"room": "{args.room}"}' }
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [
          tool('book', { sideEffectClass: 'non_idempotent_write', labels }),
          tool('unbook', { sideEffectClass: undoneAs }),
        ],
        policies: [{ on: ['unbook'], entry: policy('ask', {}) }],
      }),
    ],
    models: {
      root: inOrder(
        { calls: [{ name: 'book', args: { room: 1 } }] },
        { calls: [{ name: 'book', args: { room: 2 } }] },
        { calls: [{ name: 'book', args: { room: 3 } }] },
        new ProviderError('gone', { status: 401, retryable: false }),
      ),
    },
    tools: {
      book: () => returns('booked'),
      unbook: ({ arguments: given }) =>
        world.send(() => {
          givenBack.push((given as { room: number }).room)
          return returns('given back')
        }),
    },
    store: world.wrap,
  })
  const run = await bench.start('root')
  await turns()
  const before = world.steps()
  const { sessionId } = (await bench.store.run(run))!
  let reviews = 0
  const left = [...opinions]
  for (let round = 0; round < 40 + 6 * opinions.length; round++) {
    await turns(20)
    if (world.hasCrashed()) {
      world.restart()
      await bench.restart()
      continue
    }
    const made = (await bench.store.runsOfSession(sessionId)).filter(({ origin }) => origin?.kind === 'undo')
    if (made.filter(({ status }) => status === 'Completed').length === ROOMS.length) break
    await bench.advance(64_000)
    const tasks = (await bench.store.tasksOfSession(sessionId)).filter(({ status }) => status === 'pending')
    // An operator who got no answer asks again: what is under way or undone is refused.
    if (tasks.length === 0 && !world.hasCrashed()) await bench.engine.undo(run, { by: olga }).catch(() => {})
    for (const task of tasks) {
      if (world.hasCrashed()) break
      // An operator tells the truth.
      const wasMade = givenBack.includes((task.arguments as { room: number }).room)
      const mayRetry = task.options?.some(({ id }) => id === 'retry') ?? false
      const opinion = task.kind === 'approval' ? (left.shift() ?? 'approve') : undefined
      if (opinion === 'cancel') {
        await bench.engine.cancel(task.runId, olga).catch(() => {})
        continue
      }
      const said = opinion
        ? { approved: opinion === 'approve' }
        : { selectedOptionId: wasMade ? 'happened' : mayRetry ? 'retry' : 'skip' }
      if (task.kind === 'anomaly_review') reviews++
      await bench.engine.answer(task.runId, { taskId: task.id, ...said, by: olga }).catch(() => {})
    }
  }
  return { bench, run, givenBack, reviews, before, steps: world.steps() }
}

async function check({ bench, run, givenBack }: UndoHistory): Promise<void> {
  expect(givenBack).toEqual(ROOMS.toReversed())
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', error: 'gone', output: null })
  const { sessionId } = (await bench.store.run(run))!
  expect(await bench.store.session(sessionId)).toMatchObject({ status: 'Failed', rootRunId: run })
  expect((await bench.engine.planUndo(run)).items.map(({ at }) => at)).toEqual(['undone', 'undone', 'undone'])
  const runs = await bench.store.runsOfSession(sessionId)
  expect(runs.filter(({ state }) => state.at !== 'done')).toEqual([])
  const events = await bench.store.events(sessionId, 0, 1000)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  const steps = await bench.store.stepsOfSession(sessionId)
  expect(steps.map(({ ordinal }) => ordinal)).toEqual(steps.map((_, index) => index + 1))
  expect(steps.filter(({ finishedAt }) => finishedAt === null)).toEqual([])
  for (const sent of steps.filter(({ type, content }) => type === 'ToolCall' && content['name'] === 'unbook')) {
    const approved = steps.find(
      ({ type, content, runId }) => type === 'UserTaskRes' && runId === sent.runId && content['approved'] === true,
    )
    expect(approved!.ordinal).toBeLessThan(sent.ordinal)
  }
  await bench.engine.close(0)
}

test('undoes each call once without a crash', async () => {
  const history = await live([])
  await check(history)
  expect(history.reviews).toBe(0)
})

test('undoes each call once after a crash before or after any commit or send', async () => {
  const { before, steps, bench } = await live([])
  await bench.engine.close(0)
  let reviews = 0
  for (let at = before + 1; at <= steps; at++) {
    for (const after of [false, true]) {
      const history = await live([{ at, after }])
      await check(history)
      reviews += history.reviews
    }
  }
  // Some crashes leave an unknown outcome, which opens a review.
  expect(reviews).toBeGreaterThan(0)
})

test('gives a room back twice after some crash where the tool claims to read only: the history notices', async () => {
  const { before, steps, bench } = await live([], 'read_only')
  await bench.engine.close(0)
  let doubled = 0
  for (let at = before + 1; at <= steps; at++) {
    const { bench: here, givenBack } = await live([{ at, after: true }], 'read_only')
    if (givenBack.length > ROOMS.length) doubled++
    await here.engine.close(0)
  }
  expect(doubled).toBeGreaterThan(0)
})

test('undoes each call once after two or three crashes anywhere', async () => {
  const { before, steps, bench } = await live([])
  await bench.engine.close(0)
  const crash = fc.record({ at: fc.integer({ min: before + 1, max: steps + 10 }), after: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(crash, { minLength: 2, maxLength: 3 }), async (crashes) => {
      const ordered = [...crashes]
        .sort((a, b) => a.at - b.at)
        .filter((each, index, all) => each.at !== all[index - 1]?.at)
      await check(await live(ordered))
    }),
    { numRuns: SCHEDULES },
  )
})

test('undoes each call once whatever people say first, with crashes in between', async () => {
  const opinion = fc.constantFrom<Opinion>('approve', 'reject', 'cancel')
  const crash = fc.record({ at: fc.integer({ min: 8, max: 60 }), after: fc.boolean() })
  const history = fc.record({
    opinions: fc.array(opinion, { minLength: 1, maxLength: 5 }),
    crashes: fc.uniqueArray(crash, { maxLength: 3, selector: ({ at }) => at }),
  })
  await fc.assert(
    fc.asyncProperty(history, async ({ opinions, crashes }) => {
      await check(await live(crashes, 'non_idempotent_write', opinions))
    }),
    { numRuns: SCHEDULES },
  )
})
