/**
 * What every store promises of sessions with many runs: reads of a part have what a reader of the whole would choose. Whole reads and a
 * plain choice among them are the evaluator, on generated sessions.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import type { RunId } from '../../src/base/ids.ts'
import type { Run } from '../../src/spec/run/run.ts'
import type { Session } from '../../src/spec/run/session.ts'
import type { RunStep } from '../../src/spec/step.ts'
import type { CallRow } from '../../src/store/session-update.ts'
import type { Store } from '../../src/store/store.ts'
import { AGENT, NOW, NO_LIMITS, aRun, aSession, aStart, aStep, aTask, anUpdate, runId } from './makers.ts'
import { cases } from '../cases.ts'

const TYPES = ['UserMessage', 'Reasoning', 'PolicyDecision', 'ToolResult', 'Output', 'RunCompleted'] as const

const anyRun = fc.record({
  /** Which of the runs before it is its parent; a root run where none. */
  parent: fc.option(fc.nat(30), { nil: undefined, freq: 2 }),
  isOpen: fc.nat(9).map((n) => n === 0),
  hasTask: fc.nat(9).map((n) => n === 0),
  undoes: fc.nat(9).map((n) => n === 0),
  steps: fc.array(fc.record({ type: fc.constantFrom(...TYPES), replies: fc.boolean() }), { maxLength: 5 }),
})

type AnyRun = typeof anyRun extends fc.Arbitrary<infer T> ? T : never

/** Stores a session whose first run is its newest root run, so that any other one may be left out. */
async function storeSession(store: Store, name: string, given: readonly AnyRun[]) {
  const named = (at: number): RunId => runId(`${name} ${at}`)
  const roots = given.flatMap(({ parent }, at) => (at === 0 || parent === undefined ? [at] : []))
  const first = aSession(name, { rootRunId: named(0) })
  expect(await store.start(aStart(name, { rootRunId: named(0) }), NO_LIMITS)).toEqual({ outcome: 'started' })
  const session: Session = { ...first, version: 1, lastSeq: 2, runCount: given.length }
  const steps: RunStep[] = []
  const calls: CallRow[] = []
  const runs = given.map((each, at): Run => {
    const id = named(at)
    each.steps.forEach(({ type, replies }, index) => {
      const content = {
        ...(type === 'PolicyDecision' && { tool_call_id: `call ${index}` }),
        ...(type === 'UserMessage' && replies && { reply_to: 'call 1' }),
      }
      steps.push(aStep(session, steps.length + 1, { runId: id, type, sequence: index + 1, content }))
    })
    calls.push({
      sessionId: session.id,
      runId: id,
      callId: 'call 0',
      agentId: AGENT,
      ref: 'acme.look',
      argumentsDigest: 'sha256:1' as never,
      arguments: {},
      state: 'executed',
      attempt: 1,
      idempotencyKey: `svc:${id}:1:0`,
      at: NOW + at,
    })
    const isRoot = roots.includes(at)
    return aRun(session, {
      id,
      parentRunId: isRoot ? null : named(each.parent! % at),
      depth: isRoot ? 0 : 1,
      ...(each.isOpen ? { status: 'Running' } : { status: 'Completed', finishedAt: NOW + 10 }),
      ...(each.undoes && {
        origin: {
          kind: 'undo',
          runId: named(0),
          callId: 'call 0',
          first: id,
          calls: [],
          tool: 'a',
          by: 'b',
          reason: null,
        },
      }),
    } as Partial<Run>)
  })
  const tasks = given.flatMap(({ hasTask }, at) =>
    hasTask ? [aTask(session, `${name} ${at}`, { runId: named(at) })] : [],
  )
  await store.save(anUpdate(session, { runs, steps, tasks, calls }))
  return session
}

const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id)

export function longSessionContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`sessions with many runs, ${name}`, () => {
    let store: Store
    let count = 0
    beforeAll(async () => (store = await open({ now: () => NOW, monotonic: () => NOW })))
    afterAll(() => store.close())

    test('reads of a part have what a reader of the whole would choose', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyRun, { minLength: 1, maxLength: 12 }),
          fc.array(fc.nat(12), { maxLength: 3 }),
          fc.nat(40),
          fc.integer({ min: 1, max: 12 }),
          async (given, asked, ordinal, limit) => {
            const session = await storeSession(store, `long ${count++}`, given)
            const { id, rootRunId } = session
            const runs = await store.runsOfSession(id)
            const steps = await store.stepsOfSession(id)
            const calls = await store.calls({ sessionId: id })
            const rootOf = (run: RunId): RunId => {
              const above = runs.find((each) => each.id === run)?.parentRunId ?? null
              return above === null ? run : rootOf(above)
            }
            const treesWith = (some: readonly RunId[]): readonly string[] => {
              const roots = new Set(some.map(rootOf))
              return idsOf(runs.filter((run) => roots.has(rootOf(run.id))))
            }
            const pending = (await store.pendingTasks(id)).map(({ runId }) => runId)
            const atWork = runs.filter((run) => run.finishedAt === null || run.origin).map((run) => run.id)
            const tree = (await store.load(id))!
            expect(idsOf(tree.runs)).toEqual(treesWith([rootRunId, ...pending, ...atWork]))
            expect(idsOf(tree.tasks)).toEqual(idsOf(await store.pendingTasks(id)))

            const some = [...new Set(asked)].flatMap((at) => runs[at]?.id ?? [])
            expect(idsOf(await store.treesOf(id, some))).toEqual(treesWith(some))
            const before = runs[asked[0] ?? 99]?.id ?? null
            const older = before === null ? runs : runs.slice(0, idsOf(runs).indexOf(before))
            expect(idsOf(await store.newestRuns(id, before, limit))).toEqual(idsOf(older.slice(-limit)))

            const [one = rootRunId] = some
            const from = steps.find((step) => step.runId === one)?.ordinal ?? 0
            expect(await store.stepsSince(id, one)).toEqual(steps.filter((step) => step.ordinal >= from))
            const ofSome = steps.filter((step) => some.includes(step.runId) && step.ordinal > ordinal)
            expect(await store.stepsOfRuns(id, some, ordinal, limit)).toEqual(ofSome.slice(0, limit))
            expect(await store.stepsAt(id, asked)).toEqual(steps.filter((step) => asked.includes(step.ordinal)))
            expect(await store.decisionMarks(id, some, ordinal, limit)).toEqual(
              ofSome
                .filter(({ type }) => type === 'PolicyDecision')
                .slice(0, limit)
                .map((step) => ({
                  ordinal: step.ordinal,
                  decisionId: step.id,
                  runId: step.runId,
                  callId: step.content['tool_call_id'],
                })),
            )
            expect(await store.calls({ sessionId: id, runIds: some })).toEqual(
              calls.filter((call) => some.includes(call.runId)),
            )
          },
        ),
        { numRuns: cases(40) },
      )
    }, 60_000)

    test('what was said is read from the newest back, whole runs at a time', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyRun, { minLength: 1, maxLength: 12 }),
          fc.integer({ min: 1, max: 60 }),
          fc.integer({ min: 1, max: 12 }),
          async (given, before, limit) => {
            const session = await storeSession(store, `said ${count++}`, given)
            const { id } = session
            const runs = await store.runsOfSession(id)
            const steps = await store.stepsOfSession(id)
            const isRoot = (run: RunId): boolean => runs.find((each) => each.id === run)!.parentRunId === null
            const earlier = steps.filter((step) => step.ordinal < before && isRoot(step.runId))
            const isSaid = ({ type }: RunStep): boolean => ['UserMessage', 'Output', 'RunCompleted'].includes(type)
            const said = earlier.filter(isSaid).slice(-limit)
            const [oldest] = said
            const others = said.filter((step) => step.runId !== oldest?.runId)
            const isWhole = said.length < limit || oldest?.sequence === 1 || others.length === 0
            const kept = isWhole ? said : others
            const replied = new Set(kept.flatMap((step) => (step.content['reply_to'] ? [step.runId] : [])))
            const within = ({ ordinal }: RunStep): boolean =>
              kept.length > 0 && ordinal >= kept[0]!.ordinal && ordinal <= kept.at(-1)!.ordinal
            const expected = earlier.filter(
              (step) => kept.includes(step) || (step.type === 'Reasoning' && replied.has(step.runId) && within(step)),
            )
            expect(await store.saidBefore(id, before, limit)).toEqual(expected)
          },
        ),
        { numRuns: cases(40) },
      )
    }, 60_000)
  })
}
