/** Two things happen to one task at once: whatever the order, one of them decides, and the call is made once or not at all. */
import { afterEach, expect, test, vi } from 'vitest'
import type { RunId, TaskId } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { MessageAccepted } from '../../src/spec/api.ts'
import type * as Tasks from '../../src/engine/machine/tasks.ts'
import type { TaskRecord } from '../../src/spec/task.ts'
import { inOrder, key, openBench, operator, policy, returns, snapshotOf, tool, turns, type Bench } from './bench.ts'
import { cases } from '../cases.ts'

const ROUNDS = cases(4800)
/** Tasks that wait in one run. */
const BATCH = 20
const WAIT_MS = 30 * 60_000

type Rival = (bench: Bench, task: TaskRecord) => Promise<MessageAccepted | undefined>

const approve: Rival = (bench, task) =>
  bench.engine.answer(task.runId, { taskId: task.id, approved: true, by: key('k1') })
const reject: Rival = (bench, task) =>
  bench.engine.answer(task.runId, { taskId: task.id, approved: false, by: key('k2') })
const editTo2: Rival = (bench, task) =>
  bench.engine.answer(task.runId, {
    taskId: task.id,
    approved: true,
    by: operator('olga'),
    metadata: { 'svc/arguments': { ...(task.arguments as JsonObject), amount: 2 } },
  })
let given = 0
/** A person who is sometimes late. */
const approveOrSleep: Rival = async (bench, task) => {
  await turns((given++ % 8) * 20)
  return approve(bench, task)
}
/** Time is up while the answer is on its way. */
const expireTask: Rival = async (bench, task) => {
  await turns(2)
  if (bench.clock.now() < task.expiresAt!) {
    bench.clock.set(task.expiresAt!)
    await bench.advance(0)
  }
  return undefined
}

const RACES: readonly (readonly [what: string, rounds: number, rivals: readonly [Rival, Rival]])[] = [
  ['two answers', ROUNDS, [approve, reject]],
  ['an answer and the time-out', ROUNDS / 5, [approveOrSleep, expireTask]],
  ['an edit and an approval', ROUNDS, [editTo2, approve]],
]

test.each(RACES)(
  '%s: one winner each, %i rounds',
  async (_, rounds, rivals) => {
    await race(rivals, rounds)
  },
  120_000,
)

/** Off: what an answer was read with counts as what is there now, whatever has happened since. */
const guard = vi.hoisted(() => ({ isOn: true }))
vi.mock('../../src/engine/machine/tasks.ts', async (original) => {
  const real = await original<typeof Tasks>()
  const answerTask: typeof real.answerTask = (tx, id, taskId, answer, known) =>
    real.answerTask(guard.isOn ? tx : { ...tx, pendingTasks: () => [known] }, id, taskId, answer, known)
  return { ...real, answerTask }
})
afterEach(() => void (guard.isOn = true))

test.each(RACES)(
  '%s: both win some rounds if the answer is not checked against the current state',
  async (_, __, rivals) => {
    guard.isOn = false
    await expect(race(rivals, 10 * BATCH)).rejects.toThrow('to deeply equal')
  },
)

async function race(rivals: readonly [Rival, Rival], rounds: number): Promise<void> {
  const gate = policy('gate', { obligations: { timeout: { after_minutes: 30, default: 'deny' } } })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('put')], policies: [{ on: ['put'], entry: gate }] })],
    models: {
      root: inOrder(
        { calls: Array.from({ length: BATCH }, (__, n) => ({ name: 'put', args: { n, amount: 1 } })) },
        'End.',
      ),
    },
    tools: { put: ({ arguments: given }) => returns(given) },
  })
  const random = seeded(1)
  const won = [0, 0]
  for (let round = 0; round < rounds; round += BATCH) {
    const run = await bench.start('root')
    await bench.waitForTask(run, BATCH)
    bench.clock.set(bench.clock.now() + WAIT_MS - 1)
    const { sessionId } = (await bench.store.run(run))!
    const tasks = (await bench.store.tasksOfSession(sessionId)).filter((task) => task.status === 'pending')
    expect(tasks).toHaveLength(BATCH)
    const before = bench.invoked.length

    const answers = new Map<TaskId, (MessageAccepted | undefined)[]>()
    await Promise.all(
      tasks.map(async (task) => {
        // Whoever is first may be ahead by a turn of the event loop or by none.
        const order = random() < 0.5 ? [0, 1] : [1, 0]
        const given: (MessageAccepted | undefined)[] = []
        answers.set(task.id, given)
        await turns(Math.floor(random() * 4))
        await Promise.all(
          order.map(async (at, place) => {
            if (place === 1) await turns(Math.floor(random() * 2))
            given[at] = await rivals[at]!(bench, task)
          }),
        )
      }),
    )
    await bench.advance(1)
    await bench.waitForEnd(run)
    const calls = bench.invoked.slice(before).map((each) => each.arguments as { n: number; amount: number })
    for (const task of await bench.store.tasksOfSession(sessionId)) {
      const winners = answers.get(task.id)!.flatMap((each, at) => (each && each.error === undefined ? [at] : []))
      const { n } = task.arguments as { n: number }
      const made = calls.filter((each) => each.n === n)
      const expected = winners.length === 0 ? 'timed_out' : rivals[winners[0]!] === reject ? 'rejected' : 'approved'
      expect([winners.length <= 1, task.answer?.outcome]).toEqual([true, expected])
      expect(task.status).toBe(winners.length === 0 ? 'expired' : 'completed')
      const amount = rivals[winners[0]!] === editTo2 ? 2 : 1
      expect(made).toEqual(expected === 'approved' ? [{ n, amount }] : [])
      won[winners[0] ?? 1]!++
    }
    await checkSteps(bench, run)
  }
  // Both have won, or nothing was raced.
  expect(won[0]! + won[1]!).toBe(rounds)
  expect(Math.min(...won)).toBeGreaterThan(rounds / 100)
}

/** Each request has one answer, each call one result. */
async function checkSteps(bench: Bench, run: RunId): Promise<void> {
  const steps = await bench.store.stepsOfRun(run)
  for (const [type, name] of [
    ['UserTaskRes', 'user_task_id'],
    ['ToolResult', 'tool_call_id'],
  ] as const) {
    const ids = steps.filter((step) => step.type === type).map((step) => step.content[name])
    expect([ids.length, new Set(ids).size]).toEqual([BATCH, BATCH])
  }
}

/** A small generator with a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
