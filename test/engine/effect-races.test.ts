/**
 * Random histories of two and three runs that want the same effects, with crashes, lost outcomes, retries, releases and people
 * who answer at random. In the world each effect happens once, and once more for each time that a person let it happen again.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { isOperatorOnly, type GivenAnswer, type TaskRecord } from '../../src/spec/task.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import {
  createManualClock,
  key,
  openBench,
  type Bench,
  operator,
  publish,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  WORKSPACE,
} from './bench.ts'
import { createCrashingProcess, type Crash } from './crashing-process.ts'
import { removeDirectory } from '../remove-directory.ts'
import { cases } from '../cases.ts'

const SCHEDULES = Number(process.env['SVC_SCHEDULES'] ?? cases(60))
const ROUNDS = 60

const KEY = { 'svc/effect-key': 'order:{args.order}' }
const TOOLS = [
  tool('pay', { sideEffectClass: 'irreversible_action', labels: KEY }),
  tool('post', { sideEffectClass: 'non_idempotent_write', labels: KEY }),
  tool('put', { sideEffectClass: 'idempotent_write', labels: KEY }),
  tool('once', { sideEffectClass: 'non_idempotent_write', labels: { ...KEY, 'svc/effect-repeat': 'refuse' } }),
]

interface PlannedEffect {
  readonly name: string
  readonly order: 'A-1' | 'A-2'
  readonly takes: number
  readonly outcome: 'returned' | 'failed' | 'declined' | 'lost' | 'never arrived' | 'unreachable'
}

interface RacePlan {
  /** One list of completions for each run; the runs begin together. */
  readonly runs: readonly (readonly (readonly PlannedEffect[])[])[]
  /** What people say to a repetition; everything else is approved. */
  readonly repetitions: readonly boolean[]
  /** Rounds in which an operator releases every key. */
  readonly releases: readonly number[]
  readonly crashes: readonly Crash[]
}

const effect: fc.Arbitrary<PlannedEffect> = fc.record({
  name: fc.constantFrom('pay', 'post', 'put', 'once'),
  order: fc.constantFrom('A-1', 'A-1', 'A-1', 'A-2'),
  takes: fc.integer({ min: 0, max: 8 }),
  outcome: fc.constantFrom(
    'returned',
    'returned',
    'returned',
    'failed',
    'declined',
    'lost',
    'never arrived',
    'unreachable',
  ),
})
const script = fc.array(fc.array(effect, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 })
const race: fc.Arbitrary<RacePlan> = fc.record({
  runs: fc.array(script, { minLength: 2, maxLength: 3 }),
  repetitions: fc.array(fc.boolean(), { maxLength: 4 }),
  releases: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 1 }),
  crashes: fc.array(fc.record({ at: fc.integer({ min: 1, max: 60 }), after: fc.boolean() }), { maxLength: 3 }),
})

interface RaceHistory {
  /** Idempotency keys of calls that had their effect, by what they did to the world. */
  readonly made: ReadonlyMap<string, ReadonlySet<string>>
  /** How often a person let an effect happen again. */
  readonly permits: ReadonlyMap<string, number>
  readonly unfinished: number
}

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) removeDirectory(directory)
})

const AGENTS = ['one', 'two', 'three'].map((name) => snapshotOf({ name, tools: TOOLS }))

/** A database whose unique index is gone: two runs may hold one key. */
async function withoutIndex(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-effects-'))
  directories.push(directory)
  const path = join(directory, 'svc.db')
  const store = openSqlite(path, { clock: createManualClock() })
  await publish(store, AGENTS)
  await store.close()
  const db = connectSqlite(path, {})
  db.exec('drop index effect_held')
  db.close()
  return path
}

async function live({ runs, repetitions, releases, crashes }: RacePlan, path?: string): Promise<RaceHistory> {
  const world = createCrashingProcess(crashes)
  const made = new Map<string, Set<string>>()
  const permits = new Map<string, number>()
  const permit = (order: string): void => void permits.set(order, (permits.get(order) ?? 0) + 1)
  const bench = await openBench({
    agents: AGENTS,
    models: Object.fromEntries(
      AGENTS.map(({ name }, at) => [
        name,
        ({ run }) =>
          world.send(() => {
            const calls = runs[at]?.[run.turn - 1]
            return calls
              ? { calls: calls.map(({ name, ...how }) => ({ name, args: { ...how } as JsonObject })) }
              : 'Done.'
          }),
      ]),
    ),
    tools: Object.fromEntries(
      TOOLS.map(({ wire }) => [
        wire,
        ({ idempotencyKey, arguments: given }) =>
          world.send(async () => {
            const { takes, outcome, order } = given as unknown as PlannedEffect
            await turns(takes)
            if (outcome === 'unreachable') return { at: 'not_sent', code: 'refused', error: 'Not today.' } as const
            if (outcome === 'declined') return { ...returns('declined', true), notExecuted: true } as const
            if (outcome === 'never arrived') return { at: 'unknown', code: 'timeout', error: 'No answer.' } as const
            const keys = made.get(`order:${order}`) ?? new Set()
            made.set(`order:${order}`, keys.add(idempotencyKey))
            if (outcome === 'lost') return { at: 'unknown', code: 'broken', error: 'The connection broke.' } as const
            return returns({ order }, outcome === 'failed')
          }),
      ]),
    ),
    store: world.wrap,
    ...(path !== undefined && { path }),
  })
  const opinions = [...repetitions]
  const waiting = AGENTS.slice(0, runs.length).map(({ name }) => name)
  let unfinished = waiting.length
  for (let round = 0; round < ROUNDS; round++) {
    await turns(20)
    if (world.hasCrashed()) {
      world.restart()
      await bench.restart()
      continue
    }
    await Promise.all(
      waiting.splice(0).map(async (name) =>
        bench.engine.start(startOf(name)).catch(async () => {
          if (!(await sessionsOf(bench.store)).some(({ agentName }) => agentName === `acme.${name}`)) waiting.push(name)
        }),
      ),
    )
    await turns(20)
    if (world.hasCrashed()) continue
    await bench.advance(64_000)
    if (releases.includes(round))
      for (const order of ['order:A-1', 'order:A-2']) if ((await release(bench, order)).length > 0) permit(order)
    const sessions = await sessionsOf(bench.store)
    unfinished = waiting.length
    for (const { id } of sessions) {
      const tasks = (await bench.store.tasksOfSession(id)).filter(({ status }) => status === 'pending')
      if (tasks.length > 0 || (await bench.store.session(id))!.finishedAt === null) unfinished++
      for (const task of tasks) {
        if (world.hasCrashed()) continue
        const isRepetition = task.effect?.previous !== undefined
        const approved = !isRepetition || (opinions.shift() ?? false)
        const given: Partial<GivenAnswer> =
          task.kind === 'anomaly_review'
            ? review(task, made)
            : { approved, metadata: { 'svc/arguments_digest': task.argumentsDigest! } }
        // Counted before it is answered: the answer may be stored although its process dies.
        if (task.kind !== 'anomaly_review' && isRepetition && approved) permit(task.effect!.key)
        await bench.engine
          .answer(task.runId, { taskId: task.id, by: isOperatorOnly(task.kind) ? operator() : key(), ...given })
          .catch(() => {})
      }
    }
    if (unfinished === 0 && sessions.length === runs.length) break
  }
  await bench.engine.close(0)
  return { made, permits, unfinished }
}

/** Refused, as by the store, while a call with the key is under way. */
const release = ({ store, clock }: Bench, order: string): Promise<readonly unknown[]> =>
  store.releaseEffect(WORKSPACE, order, 'operator:olga', 'test', clock.now()).catch(() => [])

const sessionsOf = async (store: Store) =>
  (await store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 10 })).items

/** An operator looks where the call would have left its mark. */
function review(task: TaskRecord, made: RaceHistory['made']): Partial<GivenAnswer> {
  const idempotencyKey = task.context?.['idempotency_key'] as string
  const happened = [...made.values()].some((keys) => keys.has(idempotencyKey))
  const again = task.context?.['attempt'] === 1 && task.options!.some(({ id }) => id === 'retry')
  return happened ? { selectedOptionId: 'happened', textValue: 'seen' } : { selectedOptionId: again ? 'retry' : 'skip' }
}

/** Effects that happened more often than people allowed. */
const tooOften = ({ made, permits }: RaceHistory): unknown[] =>
  [...made]
    .filter(([order, keys]) => keys.size > 1 + (permits.get(order) ?? 0))
    .map(([order, keys]) => [order, keys.size])

test(
  'an effect happens once, and once more for each time that a person lets it',
  async () => {
    let [repeated, effects] = [0, 0]
    await fc.assert(
      fc.asyncProperty(race, async (plan) => {
        const history = await live(plan)
        expect(tooOften(history)).toEqual([])
        expect(history.unfinished).toBe(0)
        effects += [...history.made.values()].reduce((sum, keys) => sum + keys.size, 0)
        repeated += [...history.permits.values()].reduce((sum, each) => sum + each, 0)
      }),
      { numRuns: SCHEDULES },
    )
    expect(effects).toBeGreaterThan(SCHEDULES / 2)
    expect(repeated).toBeGreaterThan(0)
  },
  60_000 + SCHEDULES * 1000,
)

const PAY: PlannedEffect = { name: 'post', order: 'A-1', takes: 3, outcome: 'returned' }
const BOTH: RacePlan = { runs: [[[PAY]], [[PAY]]], repetitions: [], releases: [], crashes: [] }

test('two runs that begin together make one call at every crash point', async () => {
  for (let at = 0; at <= 24; at++)
    for (const after of [false, true]) {
      const history = await live({ ...BOTH, crashes: at === 0 ? [] : [{ at, after }] })
      expect([at, after, tooOften(history), history.unfinished]).toEqual([at, after, [], 0])
    }
})

test('without the unique index both runs make the call: the simulation notices', async () => {
  const history = await live(BOTH, await withoutIndex())
  expect(tooOften(history)).toEqual([['order:A-1', 2]])
})
