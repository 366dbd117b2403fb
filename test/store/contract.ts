import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import type { Session } from '../../src/spec/run/session.ts'
import type { Clock } from '../../src/base/clock.ts'
import { digestOf } from '../../src/base/digest.ts'
import { agentIdOf, nameBasedId, versionIdOf, workspaceIdOf, type RunId } from '../../src/base/ids.ts'
import type { TaskClaim, TaskRecord } from '../../src/spec/task.ts'
import { NOTHING_USED, type RunUsage } from '../../src/spec/run/run.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { RunStep } from '../../src/spec/step.ts'
import { toTimelineItem } from '../../src/view/timeline-item.ts'
import type { IdempotencyClaim } from '../../src/store/start-outcome.ts'
import type { Store } from '../../src/store/store.ts'
import type { EffectChange, EffectEnd, SessionTimer, SessionUpdateEvent } from '../../src/store/session-update.ts'
import { leaseContract } from './contract-leases.ts'
import { workerContract } from './contract-workers.ts'
import {
  AGENT,
  NOW,
  NO_LIMITS,
  TRIGGER,
  WORKSPACE,
  aFile,
  aKey,
  aConsoleSession,
  aOneTimeToken,
  anAttestation,
  anEvaluation,
  aPasskey,
  aTrust,
  anOperatorKey,
  aPublication,
  aRun,
  aSession,
  aSnapshot,
  aStart,
  aStep,
  aTask,
  aTrigger,
  anUpdate,
  anEvent,
  fileId,
  keyId,
  runId,
  sessionId,
  taskId,
} from './makers.ts'

type EffectClaim = Extract<EffectChange, { take: unknown }>['take']

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ALL = { skip: 0, take: 100 }
const ELSEWHERE = workspaceIdOf('elsewhere')

/** The contract of every store. Each backend runs the whole list. */
export function storeContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`the contract, ${name}`, () => {
    let now = NOW
    let store: Store
    beforeEach(async () => {
      now = NOW
      store = await open({ now: () => now, monotonic: () => now })
    })
    afterEach(() => store.close())

    /** Starts a session and returns it as stored. */
    const started = async (...start: Parameters<typeof aStart>) => {
      const turn = aStart(...start)
      expect(await store.start(turn, NO_LIMITS)).toEqual({ outcome: 'started' })
      return (await store.session(turn.session.id))!
    }

    describe('effect keys', () => {
      const claim = (name: string, key: string, about: Partial<EffectClaim> = {}): EffectClaim => ({
        id: name,
        key,
        shown: key,
        sessionId: sessionId(name),
        runId: runId(name),
        callId: 'c1',
        tool: 'pay.refund',
        toolVersion: '1.0.0',
        agent: 'pay.clerk',
        agentVersion: '1.0.0',
        argumentsDigest: digestOf(name),
        at: NOW,
        notAfter: NOW + MINUTE,
        expiresAt: null,
        approvedBy: ['operator:ana'],
        replaces: null,
        ...about,
      })
      const save = async (name: string, ...effects: EffectChange[]) => {
        const session = (await store.session(sessionId(name))) ?? (await started(name))
        await store.save(anUpdate(session, { effects }))
      }
      const end = (name: string, state: EffectEnd['state'], result?: string): EffectChange => ({
        end: { runId: runId(name), callId: 'c1', state, ...(result !== undefined && { result }) },
      })
      /** When no call may arrive any more. */
      const LATER = NOW + MINUTE + 3000
      const holders = async (key: string) =>
        (await store.effects({ workspaceId: WORKSPACE, key, holds: true }, ALL)).map(({ id }) => id)

      test('one call holds a key; an update that takes it too is refused whole', async () => {
        await save('a', { take: claim('a', 'k') })
        await expect(save('b', { take: claim('x', 'free') }, { take: claim('b', 'k') })).rejects.toMatchObject({
          code: 'effect_taken',
        })
        expect(await holders('free')).toEqual([])
        expect(await store.effectsOfKey(WORKSPACE, 'k', NOW)).toEqual([
          { ...claim('a', 'k'), workspaceId: WORKSPACE, state: 'in_flight', holds: true },
        ])
        expect(await store.effectsOfKey(ELSEWHERE, 'k', NOW)).toEqual([])
      })

      test('lists those of a session, and of some of its runs', async () => {
        const other = runId('other')
        await save(
          'a',
          { take: claim('a', 'one') },
          { take: claim('a2', 'two', { sessionId: sessionId('a'), runId: other }) },
        )
        await save('b', { take: claim('b', 'three') })
        const listed = async (runIds?: readonly RunId[]) => {
          const filter = { workspaceId: WORKSPACE, sessionId: sessionId('a'), ...(runIds && { runIds }) }
          return (await store.effects(filter, ALL)).map(({ id }) => id).sort()
        }
        expect(await listed()).toEqual(['a', 'a2'])
        expect(await listed([other])).toEqual(['a2'])
        expect(await listed([])).toEqual([])
      })

      test('a call that did not happen gives its key back, to the call that it repeated', async () => {
        await save('a', { take: claim('a', 'k') }, end('a', 'done', 'paid'))
        await save('b', { take: claim('b', 'k', { replaces: 'a', at: NOW + 1 }) })
        expect(await holders('k')).toEqual(['b'])
        await save('b', end('b', 'not_made'))
        expect(await holders('k')).toEqual(['a'])
        expect(await store.effectsOfKey(WORKSPACE, 'k', NOW)).toMatchObject([
          { id: 'a', state: 'done', result: 'paid' },
        ])
      })

      test('an approval to repeat one call does not let it repeat another', async () => {
        await save('a', { take: claim('a', 'k') })
        await save('b', { take: claim('b', 'k', { replaces: 'a' }) })
        await expect(save('c', { take: claim('c', 'k', { replaces: 'a' }) })).rejects.toMatchObject({
          code: 'effect_taken',
        })
      })

      test('a key is free once the window of a call that was made has passed, and not before its outcome is known', async () => {
        await save('a', { take: claim('a', 'k', { expiresAt: NOW + HOUR }) })
        const later = (name: string, at: number) => save(name, { take: claim(name, 'k', { at }) })
        await expect(later('b', NOW + HOUR)).rejects.toMatchObject({ code: 'effect_taken' })
        await save('a', end('a', 'done'))
        await expect(later('b', NOW + HOUR - 1)).rejects.toMatchObject({ code: 'effect_taken' })
        expect(await store.effectsOfKey(WORKSPACE, 'k', NOW + HOUR)).toEqual([])
        await later('b', NOW + HOUR)
        expect(await holders('k')).toEqual(['b'])
      })

      test('a release frees a key, is recorded, and outlives the deletion of all runs', async () => {
        await save('a', { take: claim('a', 'k') }, end('a', 'unknown'))
        await store.deleteAllRuns()
        expect(await holders('k')).toEqual(['a'])
        expect(await store.releaseEffect(WORKSPACE, 'k', 'operator:ana', 'why', LATER)).toMatchObject([{ id: 'a' }])
        expect(await store.releaseEffect(WORKSPACE, 'k', 'operator:ana', 'why', LATER)).toEqual([])
        expect(await store.effects({ workspaceId: WORKSPACE, key: 'k' }, ALL)).toMatchObject([
          { id: 'a', holds: false, released: { at: LATER, by: 'operator:ana', reason: 'why' } },
        ])
      })

      test.each([
        ['in flight', undefined],
        ['of a run that was cancelled', 'unknown'],
      ] as const)('a release is refused while a call %s may still arrive, and changes nothing', async (_, state) => {
        await save('a', { take: claim('a', 'k') }, end('a', 'unknown'))
        await save('b', { take: claim('b', 'k', { at: NOW + 1, replaces: 'a' }) }, ...(state ? [end('b', state)] : []))
        const release = (at: number) => store.releaseEffect(WORKSPACE, 'k', 'operator:ana', 'why', at)
        await expect(release(NOW + MINUTE + 2999)).rejects.toMatchObject({ code: 'effect_in_flight' })
        expect(await holders('k')).toEqual(['b'])
        expect((await release(NOW + MINUTE + 3000)).map(({ id }) => id)).toEqual(['b', 'a'])
      })

      test('lists the effects of one session', async () => {
        for (const name of ['a', 'b']) await save(name, { take: claim(name, `key of ${name}`) })
        const found = await store.effects({ workspaceId: WORKSPACE, sessionId: sessionId('b') }, ALL)
        expect(found.map(({ id }) => id)).toEqual(['b'])
      })
    })

    describe('sessions', () => {
      test('stores the input once when the start context and the root run repeat it, and reads it everywhere', async () => {
        const input = { order: 'A-1', note: 'ü' }
        const turn = aStart('a', { input, startContext: { by: 'x', userInput: input, version: '1.0.0' } })
        await store.start(turn, NO_LIMITS)
        expect(JSON.stringify((await store.session(turn.session.id))?.startContext)).toBe(
          JSON.stringify({ by: 'x', userInput: input, version: '1.0.0' }),
        )
        expect((await store.run(runId('a')))?.input).toEqual(input)
      })

      test('stores a started session as given, with version 1', async () => {
        const turn = aStart('a', { output: { text: 'ö' }, startContext: { by: ['x', null] } })
        await store.start(turn, NO_LIMITS)
        const session = { ...turn.session, version: 1 }
        expect(await store.session(sessionId('a'))).toEqual(session)
        expect(await store.load(sessionId('a'))).toEqual({ session, runs: turn.runs, tasks: [] })
        expect(await store.run(runId('a'))).toEqual(turn.runs[0])
      })

      test('finds nothing for ids that were never started', async () => {
        expect(await store.session(sessionId('a'))).toBeUndefined()
        expect(await store.load(sessionId('a'))).toBeUndefined()
        expect(await store.run(runId('a'))).toBeUndefined()
        expect(await store.task(taskId('a'))).toBeUndefined()
        expect(await store.events(sessionId('a'), 0, 10)).toEqual([])
        expect(await store.stepsOfSession(sessionId('a'))).toEqual([])
        await expect(store.save(anUpdate(aSession('a')))).rejects.toMatchObject({ code: 'not_found' })
      })

      test('stores the changes of a save and increments the version', async () => {
        const session = await started('a')
        const run = aRun(session, {
          status: 'Completed',
          state: { at: 'done', outcome: 'completed', output: 'ok' },
          output: 'ok',
          finishedAt: NOW + 9,
          lastSequence: 2,
        })
        const child = aRun(session, { id: runId('child'), parentRunId: run.id, parentCallId: 'c1', depth: 1 })
        await store.save(
          anUpdate(session, {
            session: {
              ...session,
              status: 'Completed',
              totalTokensUsed: 12,
              runCount: 2,
              output: 'ok',
              finishedAt: NOW + 9,
              lastOrdinal: 2,
            },
            runs: [run, child],
            subjects: ['engine.run.completed'],
            busy: false,
          }),
        )
        expect(await store.load(session.id)).toEqual({
          session: {
            ...session,
            status: 'Completed',
            totalTokensUsed: 12,
            runCount: 2,
            output: 'ok',
            finishedAt: NOW + 9,
            lastOrdinal: 2,
            version: 2,
            lastSeq: 3,
          },
          runs: [run, child],
          tasks: [],
        })
        expect(await store.runsOfSession(session.id)).toEqual([run, child])
      })

      test('stores every change of status, and changes without one', async () => {
        let session = await started('a')
        for (const [lastSequence, status] of (
          ['Running', 'WaitingForHITL', 'WaitingForHITL', 'Running', 'WaitingForResponse'] as const
        ).entries()) {
          const run = aRun(session, { status, lastSequence })
          await store.save(anUpdate(session, { session: { ...session, status, runCount: lastSequence }, runs: [run] }))
          const kept = (await store.load(session.id))!
          expect(kept.runs).toEqual([run])
          session = { ...session, status, runCount: lastSequence, version: session.version + 1 }
          expect(kept.session).toEqual(session)
        }
      })

      test('refuses the slower of two writers, and stores none of its rows', async () => {
        const session = await started('a')
        const write = (by: string) =>
          store.save(
            anUpdate(session, {
              runs: [aRun(session, { error: by })],
              steps: [aStep(session, 1, { content: { by } })],
              tasks: [aTask(session, by)],
              subjects: [`engine.run.${by}`],
              setTimers: [{ sessionId: session.id, runId: runId('a'), kind: 'retry', ref: by, at: NOW }],
            }),
          )
        const [fast, slow] = await Promise.allSettled([write('fast'), write('slow')])
        expect(fast.status).toBe('fulfilled')
        expect(slow).toMatchObject({ status: 'rejected', reason: { code: 'run_moved_on' } })
        await expect(write('later')).rejects.toMatchObject({ code: 'run_moved_on' })

        expect((await store.run(runId('a')))?.error).toBe('fast')
        expect((await store.stepsOfRun(runId('a'))).map((step) => step.content)).toEqual([{ by: 'fast' }])
        expect((await store.tasksOfSession(session.id)).map((task) => task.id)).toEqual([taskId('fast')])
        expect((await store.events(session.id, 2, 10)).map((event) => event.subject)).toEqual(['engine.run.fast'])
        expect((await store.dueTimers(NOW, 10)).map((timer) => timer.ref)).toEqual(['fast'])
      })

      test('of a start that follows a session, and a save of it, the slower is refused and stores nothing', async () => {
        const session = await started('a')
        const follows = { sessionId: session.id, version: session.version }
        const startOf = (name: string) => store.start(aStart(name, {}, { follows }), NO_LIMITS)
        expect(await startOf('b')).toEqual({ outcome: 'started' })
        const refused = {
          code: 'run_moved_on',
          message: `Session ${session.id} has changed since version ${session.version} was read.`,
        }
        await expect(store.save(anUpdate(session, { subjects: ['engine.run.late'] }))).rejects.toMatchObject(refused)
        await expect(startOf('c')).rejects.toMatchObject(refused)
        expect(await store.session(sessionId('c'))).toBeUndefined()
        expect((await store.events(session.id, 1, 10)).map(({ subject }) => subject)).not.toContain('engine.run.late')
        // Read again, it is saved as ever, and a start that looked before is refused in its turn.
        const again = (await store.session(session.id))!
        expect(again).toEqual({ ...session, version: session.version + 1 })
        await store.save(anUpdate(again, { subjects: ['engine.run.late'] }))
        const [one, other] = await Promise.allSettled([
          store.start(aStart('d', {}, { follows: { ...follows, version: again.version + 1 } }), NO_LIMITS),
          store.start(aStart('e', {}, { follows: { ...follows, version: again.version + 1 } }), NO_LIMITS),
        ])
        expect(one).toMatchObject({ status: 'fulfilled', value: { outcome: 'started' } })
        expect(other).toMatchObject({ status: 'rejected', reason: { code: 'run_moved_on' } })
        const gone = { sessionId: sessionId('nowhere'), version: 1 }
        await expect(store.start(aStart('f', {}, { follows: gone }), NO_LIMITS)).rejects.toMatchObject({
          code: expect.stringMatching(/^(not_found|run_moved_on)$/) as string,
        })
      })

      test('a start that follows a session and is refused leaves that one as it was', async () => {
        const session = await started('a')
        const follows = { sessionId: session.id, version: session.version }
        const limits = { ...NO_LIMITS, planRunsPerDay: 1 }
        expect(await store.start(aStart('b', {}, { follows }), limits)).toMatchObject({ outcome: 'plan_limited' })
        expect(await store.session(session.id)).toEqual(session)
      })

      test('refuses one writer of a tick and stores the others', async () => {
        const sessions = await Promise.all(['a', 'b', 'c'].map((each) => started(each)))
        const outcomes = await Promise.allSettled(
          sessions.map((session, index) =>
            store.save(
              anUpdate(index === 1 ? { ...session, version: 7 } : session, { subjects: ['engine.run.paused'] }),
            ),
          ),
        )
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        const versions = await Promise.all(sessions.map(async ({ id }) => (await store.session(id))?.version))
        expect(versions).toEqual([2, 1, 2])
      })

      test('shows no part of a write before it is acknowledged', async () => {
        const starting = store.start(aStart('a'), NO_LIMITS)
        expect(await store.session(sessionId('a'))).toBeUndefined()
        await starting
        expect(await store.session(sessionId('a'))).toBeDefined()
      })

      test('refuses an update whose run is unknown or belongs to another session', async () => {
        const [a, b] = [await started('a'), await started('b')]
        await expect(store.save(anUpdate(a, { steps: [aStep(a, 1, { runId: runId('none') })] }))).rejects.toThrow(
          'not in the store',
        )
        await expect(store.save(anUpdate(a, { runs: [aRun(b)] }))).rejects.toThrow('belongs to another session')
        expect((await store.session(a.id))?.version).toBe(1)
      })
    })

    leaseContract({ store: () => store, setNow: (to) => (now = to) })
    workerContract({ store: () => store, setNow: (to) => (now = to) })

    test.each<[string, Partial<RunUsage>]>([
      ['nothing', {}],
      ['tokens alone', { inputTokens: 20, outputTokens: 5 }],
      ['a wait since the beginning of time', { waitingSince: 0, onLimit: true, heldMs: 0 }],
      [
        'everything',
        {
          inputTokens: 1,
          outputTokens: 2,
          iterations: 3,
          waitedMs: 4,
          waitingSince: NOW,
          grants: { max_tokens_per_run: 1 },
          outputAttempts: 5,
          tainted: true,
          refusals: { 'sha256:1': 2 },
        },
      ],
    ])('reads of a run that used %s what it used', async (_, used) => {
      const session = await started('a')
      const run = aRun(session, { usage: { ...NOTHING_USED, ...used } })
      await store.save(anUpdate(session, { runs: [run] }))
      expect(await store.run(run.id)).toEqual(run)
    })

    describe('lists of sessions and runs', () => {
      beforeEach(async () => {
        await started('a', { startedAt: NOW + 1 })
        await started('b', { startedAt: NOW + 3, status: 'WaitingForHITL' })
        await started('c', { startedAt: NOW + 2, status: 'Completed', finishedAt: NOW + 9 })
        await started('d', { startedAt: NOW + 4, agentId: agentIdOf('main', 'pay.other'), agentName: 'pay.other' })
        await started('e', {
          startedAt: NOW + 5,
          workspaceId: ELSEWHERE,
          agentId: agentIdOf('elsewhere', 'pay.clerk'),
          agentVersionId: versionIdOf('elsewhere', 'pay.clerk', 'x'),
        })
      })
      const main = { workspaceId: WORKSPACE }
      const mine = { ...main, agentId: AGENT }

      test.each([
        ['of an agent, newest first', mine, ALL, ['b', 'c', 'a'], 3],
        ['of a workspace', main, ALL, ['d', 'b', 'c', 'a'], 4],
        ['of a page', mine, { skip: 1, take: 1 }, ['c'], 3],
        ['past the end', mine, { skip: 5, take: 5 }, [], 3],
        ['of a status', { ...mine, status: ['Running', 'Completed'] }, ALL, ['c', 'a'], 2],
        ['of no status', { ...mine, status: [] }, ALL, [], 0],
        ['of an unknown version', { ...mine, versionId: 'none' }, ALL, [], 0],
        ['of a version', { ...mine, versionId: versionIdOf('main', 'pay.clerk', 'sha256:1') }, ALL, ['b', 'c', 'a'], 3],
        ['of an agent elsewhere', { ...main, agentId: agentIdOf('elsewhere', 'pay.clerk') }, ALL, [], 0],
      ])('lists sessions %s', async (_, filter, page, names, total) => {
        const list = await store.sessions(filter, page)
        expect({ ids: list.items.map(({ id }) => id), total: list.total }).toEqual({ ids: names.map(sessionId), total })
      })

      test.each([
        ['of an agent, newest first', mine, ALL, ['b', 'c', 'a'], 3],
        ['of a workspace', main, ALL, ['d', 'b', 'c', 'a'], 4],
        ['of a page', main, { skip: 1, take: 2 }, ['b', 'c'], 4],
        ['that wait', { ...main, waiting: true }, ALL, ['b'], 1],
        ['that do not wait', { ...main, waiting: false }, ALL, ['d', 'c', 'a'], 3],
        ['of a status', { ...main, status: ['Running'] }, ALL, ['d', 'a'], 2],
        ['of an open and an ended status', { ...main, status: ['Running', 'Completed'] }, ALL, ['d', 'c', 'a'], 3],
        ['since a moment', { ...main, since: NOW + 3 }, ALL, ['d', 'b'], 2],
        ['of a session', { ...main, sessionId: sessionId('c') }, ALL, ['c'], 1],
        ['of a session elsewhere', { ...main, sessionId: sessionId('e') }, ALL, [], 0],
        ['of an agent elsewhere', { ...main, agentId: agentIdOf('elsewhere', 'pay.clerk') }, ALL, [], 0],
      ])('lists runs %s', async (_, filter, page, names, total) => {
        const list = await store.runs(filter, page)
        expect({ ids: list.items.map(({ id }) => id), total: list.total }).toEqual({ ids: names.map(runId), total })
      })

      test('finds runs by the ending of their id, in their workspace only', async () => {
        const id = runId('a')
        const ends = async (ending: string, limit = 5) =>
          (await store.runsEndingWith(WORKSPACE, ending, limit)).map((run) => run.id)
        expect(await ends(id.slice(-6))).toEqual([id])
        expect(await ends(id.slice(-8).toUpperCase())).toEqual([id])
        expect(await ends(id)).toEqual([id])
        expect(await ends(`zz${id.slice(-6)}`)).toEqual([])
        expect(await store.runsEndingWith(ELSEWHERE, id.slice(-6), 5)).toEqual([])

        const twins = ['00000000', '11111111'].map((time) => `${time}-0000-7000-8000-123456c0ffee` as RunId)
        for (const [index, rootRunId] of twins.entries())
          await started(`twin${index}`, { rootRunId, startedAt: NOW + 10 + index })
        expect(await ends('c0ffee')).toEqual([twins[1], twins[0]])
        expect(await ends('c0ffee', 1)).toEqual([twins[1]])
        // Longer than the random part of an id: the time at its beginning distinguishes them.
        expect(await ends(twins[0]!)).toEqual([twins[0]])
      })
    })

    describe('steps', () => {
      test('returns the steps of a run by sequence and those of a session by ordinal', async () => {
        const session = await started('a')
        const child = aRun(session, { id: runId('child'), parentRunId: runId('a'), depth: 1 })
        const steps = [
          aStep(session, 1, { hidden: { opaque: true } }),
          aStep(session, 2, { runId: child.id, sequence: 1, type: 'UserMessage', tokensUsed: null }),
          aStep(session, 3, { sequence: 2, error: 'refused' }),
        ]
        await store.save(anUpdate(session, { runs: [child], steps }))
        expect(await store.stepsOfSession(session.id)).toEqual(steps)
        expect(await store.stepsAfter(session.id, 0, 2)).toEqual(steps.slice(0, 2))
        expect(await store.stepsAfter(session.id, 2, 2)).toEqual(steps.slice(2))
        expect(await store.stepsAfter(session.id, 3, 2)).toEqual([])
        expect(await store.stepsOfRun(runId('a'))).toEqual([steps[0], steps[2]])
        expect(await store.stepsOfRun(child.id)).toEqual([steps[1]])
      })

      test('reads what was said in root runs, with completions only where a message answers one', async () => {
        const session = await started('a')
        const child = aRun(session, { id: runId('child'), parentRunId: runId('a'), depth: 1 })
        const said = (ordinal: number, type: RunStep['type'], content: JsonObject) =>
          aStep(session, ordinal, { type, content, sequence: ordinal })
        const steps = [
          said(1, 'UserMessage', { text: 'Book' }),
          said(2, 'Reasoning', { text: 'Which?' }),
          said(3, 'ToolResult', { result: 'x'.repeat(100_000) }),
          said(4, 'UserMessage', { text: 'Blue', reply_to: 'call_1' }),
          aStep(session, 5, { runId: child.id, sequence: 1, type: 'UserMessage', content: { text: 'Other' } }),
          aStep(session, 6, { runId: child.id, sequence: 2, type: 'Reasoning', content: { text: 'Other' } }),
          said(7, 'Output', { output: { long: 'y'.repeat(100_000) } }),
        ]
        await store.save(anUpdate(session, { runs: [child], steps }))
        expect(await store.saidBefore(session.id, 8, 10)).toEqual([steps[0], steps[1], steps[3], steps[6]])
        expect(await store.saidBefore(session.id, 7, 10)).toEqual([steps[0], steps[1], steps[3]])
        expect(await store.saidBefore(session.id, 8, 2)).toEqual([steps[3], steps[6]])
        expect(await store.saidBefore(session.id, 1, 10)).toEqual([])
        expect(await store.saidBefore(sessionId('unknown'), 8, 10)).toEqual([])
      })

      test('closes an open step of an earlier update, once', async () => {
        const session = await started('a')
        const open = aStep(session, 1, { type: 'ToolCall', finishedAt: null })
        const close = (version: number, finishedAt: number, error: string | null) =>
          store.save(
            anUpdate(
              { ...session, version },
              { closedSteps: [{ id: open.id, ordinal: open.ordinal, finishedAt, error }] },
            ),
          )
        await store.save(anUpdate(session, { steps: [open] }))
        await close(2, NOW + 50, 'broken')
        await close(3, NOW + 60, null)
        expect(await store.stepsOfRun(runId('a'))).toEqual([{ ...open, finishedAt: NOW + 50, error: 'broken' }])
      })

      test.each([
        ['of 256 KiB', 256 * 1024, 'é'.repeat(128 * 1024 - 1)],
        ['of more than 256 KiB', 256 * 1024 + 2, 'é'.repeat(128 * 1024)],
        ['of more than 256 KiB, and no text', 7 * 60_000 + 1, Array.from({ length: 60_000 }, () => 'four')],
      ])('reads a result %s as it was written', async (_, bytes, result) => {
        expect(Buffer.byteLength(JSON.stringify(result))).toBe(bytes)
        const session = await started('a')
        const content = { tool_call_id: 'c1', name: 'read', result, is_error: false, duration_ms: 1 }
        const steps = [1, 2].map((ordinal) => aStep(session, ordinal, { type: 'ToolResult', content }))
        const shown: SessionUpdateEvent = {
          sessionId: session.id,
          seq: 3,
          runId: session.rootRunId,
          ts: NOW,
          kind: 'step',
          subject: 'engine.step.completed',
          ordinal: 1,
        }
        await store.save({ ...anUpdate({ ...session, lastSeq: 3 }, { steps }), events: [shown] })
        const read = await store.stepsOfSession(session.id)
        expect(JSON.stringify(read)).toBe(JSON.stringify(steps))
        const [event] = await store.events(session.id, 2, 1)
        expect(event!.data['step']).toEqual(toTimelineItem(steps[0]!, aRun(session)))
      })

      test.each([
        ['in their session', { ordinal: 1, sequence: 2 }],
        ['in their run', { ordinal: 2, sequence: 1 }],
      ])('refuses two steps with one number %s', async (_, number) => {
        const session = await started('a')
        const counted = (lastSequence: number) => ({ runs: [aRun(session, { lastSequence })] })
        await store.save(anUpdate(session, { ...counted(1), steps: [aStep(session, 1)] }))
        await expect(
          store.save(anUpdate({ ...session, version: 2 }, { ...counted(2), steps: [aStep(session, 2, number)] })),
        ).rejects.toThrow(/unique/i)
        expect((await store.session(session.id))?.version).toBe(2)
      })
    })

    describe('events', () => {
      test('returns events after a number, in order, at most `limit`', async () => {
        const session = await started('a')
        await started('b')
        await store.save(
          anUpdate(session, { subjects: ['engine.run.paused', 'engine.run.resumed', 'engine.run.completed'] }),
        )
        const seqs = async (after: number, limit: number) =>
          (await store.events(session.id, after, limit)).map(({ seq }) => seq)
        expect(await seqs(0, 10)).toEqual([1, 2, 3, 4, 5])
        expect(await seqs(2, 2)).toEqual([3, 4])
        expect(await seqs(5, 10)).toEqual([])
        expect(await store.events(session.id, 2, 1)).toEqual([anEvent(session, 3, 'engine.run.paused')])
      })

      test('reads the event of a step with the content that the step had when the event was written', async () => {
        const session = await started('a')
        const open = aStep(session, 1, { type: 'ToolCall', tokensUsed: null, finishedAt: null })
        const whole = aStep(session, 2, { error: 'refused' })
        const shows = (seq: number, step: RunStep, what: string): SessionUpdateEvent => ({
          sessionId: session.id,
          seq,
          runId: step.runId,
          ts: NOW,
          kind: 'step',
          subject: `engine.step.${what}`,
          ordinal: step.ordinal,
        })
        await store.save({
          ...anUpdate({ ...session, lastSeq: 4 }, { steps: [open, whole] }),
          events: [shows(3, open, 'started'), shows(4, whole, 'failed')],
        })
        const end = { id: open.id, ordinal: open.ordinal, finishedAt: NOW + 9, error: 'broken' }
        await store.save({
          ...anUpdate({ ...session, version: 2, lastSeq: 5 }, { closedSteps: [end] }),
          events: [shows(5, open, 'failed')],
        })
        const said = (await store.events(session.id, 2, 10)).map(({ seq, data }) => ({ seq, data }))
        const { sessionId, runId: ownId } = open
        expect(said).toEqual(
          [open, whole, { ...open, ...end }].map((step, index) => ({
            seq: 3 + index,
            data: { sessionId, runId: ownId, step: toTimelineItem(step, aRun(session)) },
          })),
        )
        expect(said[0]!.data['step']).toMatchObject({ error: null, finishedAt: null })
      })

      test.each([
        ['leaves one out', [4], 4],
        ['repeats one', [2, 3], 3],
        ['says another last number', [3], 4],
      ])('refuses a turn that %s', async (_, seqs, lastSeq) => {
        const session = await started('a')
        const turn = {
          ...anUpdate(session),
          session: { ...session, lastSeq },
          events: seqs.map((seq) => anEvent(session, seq, 'engine.run.paused')),
        }
        await expect(store.save(turn)).rejects.toThrow('without a gap')
        expect((await store.events(session.id, 0, 10)).map(({ seq }) => seq)).toEqual([1, 2])
      })

      test('is read without a gap and without a repeat for any page sizes and refused writers', async () => {
        let count = 0
        await fc.assert(
          fc.asyncProperty(
            fc.array(fc.record({ added: fc.integer({ min: 0, max: 4 }), stale: fc.boolean() }), { maxLength: 8 }),
            fc.integer({ min: 1, max: 5 }),
            async (moves, page) => {
              let session = await started(`walk-${count++}`)
              for (const { added, stale } of moves) {
                const subjects = Array.from({ length: added }, () => 'engine.run.paused')
                const saved = await store
                  .save(anUpdate(stale ? { ...session, version: session.version - 1 } : session, { subjects }))
                  .then(
                    () => 'kept',
                    (error: { code: string }) => error.code,
                  )
                expect(saved).toBe(stale ? 'run_moved_on' : 'kept')
                session = (await store.session(session.id))!
              }
              const read: number[] = []
              for (
                let items = await store.events(session.id, 0, page);
                items.length > 0;
                items = await store.events(session.id, read.at(-1)!, page)
              )
                read.push(...items.map(({ seq }) => seq))
              expect(read).toEqual(Array.from({ length: session.lastSeq }, (_, index) => index + 1))
            },
          ),
          { numRuns: 20 },
        )
      })
    })

    describe('tasks', () => {
      test('loads only pending tasks, and still stores the decided ones', async () => {
        const session = await started('a')
        const [one, two] = [
          aTask(session, 'one', { callId: 'c1' }),
          aTask(session, 'two', { callId: 'c2', options: [{ id: 'x', label: 'X' }] }),
        ]
        await store.save(anUpdate(session, { tasks: [one, two] }))
        expect((await store.load(session.id))?.tasks).toEqual([one, two])
        const done = {
          ...one,
          status: 'completed' as const,
          completedAt: NOW + 5,
          answer: { outcome: 'approved' as const, approved: true },
        }
        await store.save(anUpdate({ ...session, version: 2 }, { tasks: [done] }))
        expect((await store.load(session.id))?.tasks).toEqual([two])
        expect(await store.task(one.id)).toEqual(done)
        expect(await store.tasksOfSession(session.id)).toEqual([done, two])
      })

      test('accepts the next task of a call in the update that ends the one before, but never two pending ones', async () => {
        const session = await started('a')
        const first = aTask(session, 'first', { callId: 'c1' })
        const next = aTask(session, 'next', { callId: 'c1', kind: 'escalation' })
        await store.save(anUpdate(session, { tasks: [first] }))
        await expect(store.save(anUpdate({ ...session, version: 2 }, { tasks: [next] }))).rejects.toThrow(/unique/i)
        await store.save(anUpdate({ ...session, version: 2 }, { tasks: [next, { ...first, status: 'expired' }] }))
        expect((await store.load(session.id))?.tasks).toEqual([next])
      })

      test('stores the votes that count, and counts an approver once', async () => {
        const session = await started('a')
        const ann = { approver: 'operator:ann', approved: true, at: NOW + 1, comment: 'fine' }
        const bob = { approver: 'key:bob', approved: true, at: NOW + 2 }
        const task = aTask(session, 't')
        const save = (version: number, votes: readonly (typeof bob)[]) =>
          store.save(anUpdate({ ...session, version }, { tasks: [{ ...task, votes }] }))
        await save(1, [ann])
        await save(2, [ann, bob])
        expect((await store.task(task.id))?.votes).toEqual([ann, bob])
        await expect(save(3, [ann, bob, { ...bob, at: NOW + 3 }])).rejects.toThrow(/unique/i)
        expect((await store.task(task.id))?.votes).toEqual([ann, bob])
        // An edit voids earlier votes; the same approver may then vote again.
        await save(3, [{ ...ann, at: NOW + 9 }])
        expect((await store.task(task.id))?.votes).toEqual([{ ...ann, at: NOW + 9 }])
      })

      test.each([
        ['small', 10],
        ['large', 40_000],
      ])('reads what waits after each change, and nothing of a refused one, of %s tasks', async (_, length) => {
        const session = await started('a')
        const ann = { approver: 'operator:ann', approved: true, at: NOW + 1 }
        const one = aTask(session, 'one', { callId: 'c1', arguments: { text: 'x'.repeat(length) } })
        const two = aTask(session, 'two', { callId: 'c2' })
        const voted = { ...one, votes: [ann] }
        const waits = () => store.pendingTasks(session.id)
        const save = (version: number, ...tasks: readonly TaskRecord[]) =>
          store.save(anUpdate({ ...session, version }, { tasks }))
        expect([await waits(), await waits()]).toEqual([[], []])
        await save(1, one)
        expect([await waits(), await waits()]).toEqual([[one], [one]])
        await save(2, voted)
        expect(await waits()).toEqual([voted])
        await expect(save(3, { ...voted, status: 'completed' }, { ...two, votes: [ann, ann] })).rejects.toThrow(
          /unique/i,
        )
        expect(await waits()).toEqual([voted])
        await save(3, two)
        expect(await waits()).toEqual([voted, two])
        await save(4, { ...voted, status: 'completed' })
        expect(await waits()).toEqual([two])
      })

      test('lists pending tasks by deadline, and all tasks on request', async () => {
        const session = await started('a')
        const other = await started('b', { agentId: agentIdOf('main', 'pay.other'), agentName: 'pay.other' })
        const away = await started('c', { workspaceId: ELSEWHERE, agentId: agentIdOf('elsewhere', 'pay.clerk') })
        await store.save(
          anUpdate(session, {
            tasks: [
              aTask(session, 'whenever'),
              aTask(session, 'later', { expiresAt: NOW + HOUR, kind: 'escalation' }),
              aTask(session, 'soon', { expiresAt: NOW + MINUTE }),
              aTask(session, 'done', { status: 'completed', expiresAt: NOW }),
            ],
          }),
        )
        await store.save(anUpdate(other, { tasks: [aTask(other, 'other', { expiresAt: NOW + 2 * MINUTE })] }))
        await store.save(anUpdate(away, { tasks: [aTask(away, 'away')] }))
        const list = async (filter: object, page = ALL) => {
          const { items, total } = await store.tasks({ workspaceId: WORKSPACE, ...filter }, page)
          return [items.map(({ id }) => id), total]
        }
        expect(await list({})).toEqual([['soon', 'other', 'later', 'whenever'].map(taskId), 4])
        expect(await list({}, { skip: 1, take: 2 })).toEqual([['other', 'later'].map(taskId), 4])
        expect(await list({ agentId: AGENT })).toEqual([['soon', 'later', 'whenever'].map(taskId), 3])
        expect(await list({ kinds: ['escalation', 'text'] })).toEqual([[taskId('later')], 1])
        expect(await list({ agentId: AGENT, all: true })).toEqual([
          ['soon', 'later', 'whenever', 'done'].map(taskId),
          4,
        ])
        expect(await list({ agentId: agentIdOf('elsewhere', 'pay.clerk') })).toEqual([[], 0])
        expect(await store.openTasks(WORKSPACE)).toEqual([
          { kind: 'approval', count: 3, oldest: NOW },
          { kind: 'escalation', count: 1, oldest: NOW },
        ])
        expect(await store.openTasks(ELSEWHERE)).toEqual([{ kind: 'approval', count: 1, oldest: NOW }])
      })

      test('finds tasks by the ending of their id, in their workspace only', async () => {
        const session = await started('a')
        await store.save(anUpdate(session, { tasks: [aTask(session, 'one'), aTask(session, 'two')] }))
        const ending = taskId('one').slice(-7)
        expect((await store.tasksEndingWith(WORKSPACE, ending, 5)).map(({ id }) => id)).toEqual([taskId('one')])
        expect(await store.tasksEndingWith(ELSEWHERE, ending, 5)).toEqual([])
      })
    })

    describe('calls', () => {
      const call = (session: Session, callId: string, at: number, state: string) => ({
        sessionId: session.id,
        runId: session.rootRunId,
        callId,
        agentId: AGENT,
        ref: 'pay.refund',
        argumentsDigest: digestOf(callId),
        arguments: { amount: 1 },
        state,
        attempt: 1,
        idempotencyKey: `svc:${callId}`,
        at,
      })

      test('replaces a call by its key, and returns the calls of a session or of an agent since an instant', async () => {
        const [a, b] = [await started('a'), await started('b')]
        await store.save(anUpdate(a, { calls: [call(a, 'c1', NOW + 1, 'sent'), call(a, 'c2', NOW + 5, 'executed')] }))
        await store.save(anUpdate(b, { calls: [call(b, 'c1', NOW + 3, 'denied')] }))
        await store.save(
          anUpdate(
            { ...a, version: 2 },
            { calls: [{ ...call(a, 'c1', NOW + 1, 'executed'), attempt: 2, arguments: null }] },
          ),
        )
        expect(await store.calls({ sessionId: a.id })).toEqual([
          { ...call(a, 'c1', NOW + 1, 'executed'), attempt: 2, arguments: null },
          call(a, 'c2', NOW + 5, 'executed'),
        ])
        expect((await store.calls({ agentId: AGENT, since: NOW + 3 })).map((each) => each.at)).toEqual([
          NOW + 3,
          NOW + 5,
        ])
        expect(await store.calls({ agentId: agentIdOf('main', 'pay.none') })).toEqual([])
      })

      test('returns those of a session that are named, and the states of all page by page', async () => {
        const [a, b] = [await started('a'), await started('b')]
        const made = ['c1', 'c2', 'c3'].map((callId) => call(a, callId, NOW + 1, 'sent'))
        await store.save(anUpdate(a, { calls: made }))
        await store.save(anUpdate(b, { calls: [call(b, 'c1', NOW + 1, 'sent')] }))
        const runId = a.rootRunId
        const named = await store.callsNamed(a.id, [
          { runId, callId: 'c3' },
          { runId, callId: 'c1' },
          { runId, callId: 'none' },
          { runId: b.rootRunId, callId: 'c1' },
        ])
        expect(named.toSorted((x, y) => x.callId.localeCompare(y.callId))).toEqual([made[0], made[2]])
        const states = made.map((call) => {
          const { arguments: _, ...state } = call
          return state
        })
        const first = await store.callStates(a.id, [runId], null, 2)
        expect(first).toEqual(states.slice(0, 2))
        expect(await store.callStates(a.id, [runId], first[1]!, 2)).toEqual(states.slice(2))
        expect(await store.callStates(a.id, [runId], made[2]!, 2)).toEqual([])
        expect(await store.callStates(a.id, [b.rootRunId], null, 2)).toEqual([])
      })
    })

    describe('timers', () => {
      test('are due in the order of their instants until they are cleared or replaced', async () => {
        const session = await started('a')
        const timer = (kind: SessionTimer['kind'], ref: string, at: number): SessionTimer => ({
          sessionId: session.id,
          runId: runId('a'),
          kind,
          ref,
          at,
        })
        const due = async (at: number, limit = 10) => (await store.dueTimers(at, limit)).map(({ ref }) => ref)
        expect(await store.nextTimerAt()).toBeUndefined()
        await store.save(
          anUpdate(session, {
            setTimers: [
              timer('task_timeout', 'late', NOW + 30),
              timer('retry', 'soon', NOW + 10),
              timer('wall_clock', '', NOW + 20),
            ],
          }),
        )
        expect(await store.nextTimerAt()).toBe(NOW + 10)
        expect(await due(NOW + 9)).toEqual([])
        expect(await due(NOW + 30)).toEqual(['soon', '', 'late'])
        expect(await due(NOW + 30, 2)).toEqual(['soon', ''])
        expect(await store.dueTimers(NOW + 10, 10)).toEqual([timer('retry', 'soon', NOW + 10)])
        await store.save(
          anUpdate(
            { ...session, version: 2 },
            {
              clearTimers: [
                timer('retry', 'soon', 0),
                timer('task_timeout', 'late', 0),
                timer('retry', 'never set', 0),
              ],
              setTimers: [timer('wall_clock', '', NOW + 50), timer('task_timeout', 'late', NOW + 40)],
            },
          ),
        )
        expect(await due(NOW + 100)).toEqual(['late', ''])
        expect(await store.nextTimerAt()).toBe(NOW + 40)
      })
    })

    describe('starting', () => {
      const limits = (about: Partial<typeof NO_LIMITS>) => ({ ...NO_LIMITS, ...about })
      let count = 0
      const start = (about: Partial<typeof NO_LIMITS>, session = {}) =>
        store.start(aStart(`s${count++}`, session), limits(about))

      test('accepts exactly the limit of 2,000 parallel starts', async () => {
        const outcomes = await Promise.all(Array.from({ length: 2000 }, () => start({ maxConcurrentRuns: 10 })))
        expect(outcomes.filter(({ outcome }) => outcome === 'started')).toHaveLength(10)
        expect(outcomes.at(-1)).toEqual({ outcome: 'concurrency_limited', limit: 10 })
        expect((await store.sessions({ workspaceId: WORKSPACE, agentId: AGENT }, ALL)).total).toBe(10)
      })

      test('counts the runs of a trigger that have not ended', async () => {
        const session = await started('a')
        expect(await start({ maxConcurrentRuns: 1 })).toEqual({ outcome: 'concurrency_limited', limit: 1 })
        expect(await start({ maxConcurrentRuns: 1 }, { triggerId: nameBasedId('other') })).toEqual({
          outcome: 'started',
        })
        await store.save(anUpdate(session, { session: { ...session, status: 'Failed', finishedAt: NOW }, busy: false }))
        expect(await start({ maxConcurrentRuns: 1 })).toEqual({ outcome: 'started' })
      })

      test('refuses starts over the rate per minute and returns when the next one is accepted', async () => {
        const rate = { ratePerMinute: 3 }
        expect([await start(rate), await start(rate), await start(rate)].map(({ outcome }) => outcome)).toEqual([
          'started',
          'started',
          'started',
        ])
        expect(await start(rate)).toEqual({ outcome: 'rate_limited', limit: '3 per minute', retryAfterSeconds: 20 })
        now += 19_500
        expect(await start(rate)).toEqual({ outcome: 'rate_limited', limit: '3 per minute', retryAfterSeconds: 1 })
        now += 500
        expect(await start(rate)).toEqual({ outcome: 'started' })
        expect(await start(rate)).toMatchObject({ outcome: 'rate_limited', retryAfterSeconds: 20 })
        expect(await start(rate, { triggerId: nameBasedId('other') })).toEqual({ outcome: 'started' })
        expect(await start(rate, { triggerId: null })).toEqual({ outcome: 'started' })
      })

      test('takes no token for a start that is refused', async () => {
        const both = { ratePerMinute: 10, ratePerDay: 2 }
        await start(both)
        await start(both)
        for (let refused = 0; refused < 20; refused++)
          expect(await start(both)).toEqual({ outcome: 'rate_limited', limit: '2 per day', retryAfterSeconds: 43_200 })
        expect(await start({ ratePerMinute: 10 })).toEqual({ outcome: 'started' })
        for (let refused = 0; refused < 5; refused++)
          expect(await start({ ratePerMinute: 10, maxConcurrentRuns: 1 })).toMatchObject({
            outcome: 'concurrency_limited',
          })
        for (let taken = 0; taken < 7; taken++)
          expect(await start({ ratePerMinute: 10 })).toEqual({ outcome: 'started' })
        expect(await start({ ratePerMinute: 10 })).toMatchObject({ outcome: 'rate_limited', limit: '10 per minute' })
      })

      test.each([1, 7, 60, 1000])('lets a full bucket of %i per minute through, and no start more', async (rate) => {
        const outcomes = await Promise.all(Array.from({ length: rate + 5 }, () => start({ ratePerMinute: rate })))
        expect(outcomes.filter(({ outcome }) => outcome === 'started')).toHaveLength(rate)
        now += MINUTE
        const more = await Promise.all(Array.from({ length: rate + 5 }, () => start({ ratePerMinute: rate })))
        expect(more.filter(({ outcome }) => outcome === 'started')).toHaveLength(rate)
      })

      test('refuses every start at a rate of zero', async () => {
        expect(await start({ ratePerMinute: 0 })).toEqual({
          outcome: 'rate_limited',
          limit: '0 per minute',
          retryAfterSeconds: 60,
        })
      })

      test('counts the runs of the plan by day, in UTC', async () => {
        const plan = { planRunsPerDay: 2 }
        await start({})
        await start(plan, { triggerId: null })
        expect(await start(plan)).toEqual({ outcome: 'plan_limited', limit: 'runs_per_day', value: 2 })
        now = NOW - (NOW % DAY) + DAY
        expect(await start(plan)).toEqual({ outcome: 'started' })
      })

      test('counts the tokens of the plan on the day they are used', async () => {
        const session = await started('a')
        await store.save(anUpdate(session, { session: { ...session, totalTokensUsed: 60 } }))
        expect(await start({ planTokensPerDay: 100 })).toEqual({ outcome: 'started' })
        await store.save(anUpdate({ ...session, version: 2, totalTokensUsed: 100 }))
        expect(await start({ planTokensPerDay: 100 })).toEqual({
          outcome: 'plan_limited',
          limit: 'tokens_per_day',
          value: 100,
        })
        now += DAY
        expect(await start({ planTokensPerDay: 100 })).toEqual({ outcome: 'started' })
      })

      describe('what completions in flight may use of the plan', () => {
        const cap = { tokens: 100, cost: { amount: '1', currency: 'EUR' } }
        const begin = async (name: string, tokens: number, euros?: string) => {
          const session = await store.session(sessionId(name))
          const cost = euros === undefined ? {} : { cost: { amount: euros, currency: 'EUR' } }
          const plan = { cap, reserves: [{ runId: runId(name), tokens, ...cost }], frees: [] }
          await store.save(anUpdate(session!, { plan }))
        }
        const end = async (name: string, tokens: number) => {
          const session = await store.session(sessionId(name))
          const used = { ...session!, totalTokensUsed: session!.totalTokensUsed + tokens }
          await store.save(anUpdate(used, { plan: { cap, reserves: [], frees: [runId(name)] } }))
        }
        beforeEach(async () => {
          for (const name of ['a', 'b', 'c']) await started(name)
        })

        test('is not there for another one, which is refused whole until it is free', async () => {
          await begin('a', 60)
          await begin('b', 40)
          await expect(begin('c', 1)).rejects.toMatchObject({ code: 'plan_reserved' })
          expect((await store.session(sessionId('c')))!.version).toBe(1)
          // Another attempt of the same completion replaces what it had reserved.
          await begin('b', 39)
          await begin('c', 1)
          await end('a', 10)
          await begin('a', 60)
        })

        test('counts money in the currency of the cap', async () => {
          await begin('a', 1, '0.4')
          await begin('b', 1, '0.6')
          await expect(begin('c', 1, '0.1')).rejects.toMatchObject({ code: 'plan_reserved' })
          await end('b', 1)
          await begin('c', 1, '0.6')
        })

        test('nothing begins once the day has spent as much, until the next day', async () => {
          now = NOW - (NOW % DAY) + DAY - 90_000
          await begin('a', 500)
          await end('a', 100)
          await expect(begin('b', 1)).rejects.toMatchObject({ code: 'plan_spent', extras: { retryAfterSeconds: 90 } })
          now += 90_000
          await begin('b', 1)
        })

        test('goes with its run', async () => {
          await begin('a', 100)
          await store.deleteAllRuns()
          await started('d')
          await begin('d', 100)
        })
      })

      describe('with an idempotency key', () => {
        const claim = (about: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
          principal: 'key:1',
          route: 'start',
          key: 'k',
          bodyDigest: digestOf('body'),
          response: { runId: runId('a') },
          expiresAt: NOW + DAY,
          ...about,
        })
        const again = (about: Partial<IdempotencyClaim> = {}) =>
          store.start(
            aStart(`again${count++}`),
            limits({ ratePerMinute: 1 }),
            claim({ response: { runId: 'another' }, ...about }),
          )

        test('returns the first response for a repeated start, and takes no token for it', async () => {
          const first = store.start(aStart('a'), limits({ ratePerMinute: 1 }), claim())
          const twin = again()
          expect([await first, await twin]).toEqual([
            { outcome: 'started' },
            { outcome: 'replayed', response: { runId: runId('a') } },
          ])
          expect(await again()).toEqual({ outcome: 'replayed', response: { runId: runId('a') } })
          expect((await store.runs({ workspaceId: WORKSPACE }, ALL)).total).toBe(1)
          expect(await store.findEarlierStart('key:1', 'start', 'k', digestOf('body'), NOW)).toEqual({
            outcome: 'replayed',
            response: { runId: runId('a') },
          })
        })

        test('refuses the same key with a different body', async () => {
          await store.start(aStart('a'), NO_LIMITS, claim())
          expect(await again({ bodyDigest: digestOf('other') })).toEqual({ outcome: 'key_reused' })
          expect(await store.findEarlierStart('key:1', 'start', 'k', digestOf('other'), NOW)).toEqual({
            outcome: 'key_reused',
          })
        })

        test('accepts a key of another principal or route, or an expired one, as new', async () => {
          await store.start(aStart('a'), NO_LIMITS, claim())
          expect(await store.start(aStart('b'), NO_LIMITS, claim({ principal: 'key:2' }))).toEqual({
            outcome: 'started',
          })
          expect(await store.start(aStart('c'), NO_LIMITS, claim({ route: 'other' }))).toEqual({ outcome: 'started' })
          expect(await store.findEarlierStart('key:1', 'start', 'k', digestOf('body'), NOW + DAY)).toBeUndefined()
          now += DAY
          expect(
            await store.start(aStart('d'), NO_LIMITS, claim({ bodyDigest: digestOf('new'), expiresAt: now + DAY })),
          ).toEqual({ outcome: 'started' })
          expect(await again({ bodyDigest: digestOf('new') })).toMatchObject({ outcome: 'replayed' })
        })

        test('stores no claim of a refused start', async () => {
          await start({ ratePerMinute: 1 })
          expect(await again()).toMatchObject({ outcome: 'rate_limited' })
          expect(await store.findEarlierStart('key:1', 'start', 'k', digestOf('body'), NOW)).toBeUndefined()
          now += MINUTE
          expect(await again()).toEqual({ outcome: 'started' })
        })

        test('makes 100 runs of 2,000 parallel starts over 100 keys', async () => {
          const outcomes = await Promise.all(
            Array.from({ length: 2000 }, (_, index) =>
              store.start(aStart(`p${index}`), NO_LIMITS, claim({ key: `k${index % 100}` })),
            ),
          )
          expect(outcomes.filter(({ outcome }) => outcome === 'started')).toHaveLength(100)
          expect(outcomes.filter(({ outcome }) => outcome === 'replayed')).toHaveLength(1900)
        })
      })
    })

    describe('versions', () => {
      const clerk = aSnapshot('pay.clerk', '1.0.0')
      const clerkId = versionIdOf('main', 'pay.clerk', clerk.digest)
      const next = aSnapshot('pay.clerk', '1.1.0')
      const nextId = versionIdOf('main', 'pay.clerk', next.digest)
      const tool = {
        kind: 'Tool' as const,
        id: 'pay.refund',
        version: '1.0.0',
        digest: digestOf('tool'),
        document: { spec: { description: 'Refunds.', side_effect_class: 'irreversible_action' } },
      }

      test('stores a publication, and reports when it is published again', async () => {
        const publication = aPublication([clerk], { documents: [tool] })
        const lines = (already: boolean) => [
          { kind: 'Agent', id: 'pay.clerk', version: '1.0.0', digest: clerk.digest, already },
          { kind: 'Tool', id: 'pay.refund', version: '1.0.0', digest: tool.digest, already },
        ]
        expect(await store.publish(publication)).toEqual(lines(false))
        expect(await store.publish({ ...publication, at: NOW + 5, by: 'operator:bob' })).toEqual(lines(true))
        const version = {
          id: clerkId,
          agentId: AGENT,
          workspaceId: WORKSPACE,
          snapshot: clerk,
          closureDigest: digestOf('closure'),
          publishedAt: NOW,
          publishedBy: 'operator:ann',
          yanked: false,
        }
        expect(await store.version(clerkId)).toEqual(version)
        expect(await store.versionByDigest(WORKSPACE, clerk.digest)).toEqual(version)
        expect(await store.versionByDigest(ELSEWHERE, clerk.digest)).toBeUndefined()
        expect(await store.documents(WORKSPACE, 'Tool', 'pay.refund')).toEqual([tool])
        expect(await store.documents(WORKSPACE, 'Policy', 'pay.refund')).toEqual([])
      })

      test('refuses different content for a version, and the whole publication with it', async () => {
        await store.publish(aPublication([clerk], { documents: [tool] }))
        const changed = aPublication([next, aSnapshot('pay.clerk', '1.0.0', 'Pays more.')])
        await expect(store.publish(changed)).rejects.toMatchObject({
          code: 'version_exists',
          message: 'pay.clerk@1.0.0 is published with other content (purpose).',
        })
        await expect(
          store.publish(
            aPublication([next], {
              documents: [{ ...tool, digest: digestOf('other'), document: { spec: { description: 'Refunds.' } } }],
            }),
          ),
        ).rejects.toMatchObject({
          message: 'pay.refund@1.0.0 is published with other content (spec.side_effect_class).',
        })
        await expect(
          store.publish(
            aPublication([aSnapshot('pay.clerk', '1.0.0', 'Pays more.')], {
              documents: [{ ...tool, digest: digestOf('other'), document: { spec: { description: 'Refunds.' } } }],
            }),
          ),
        ).rejects.toMatchObject({
          message: 'pay.clerk@1.0.0 is published with other content (purpose), and so is one more member.',
          extras: {
            details: [
              { path: 'pay.clerk@1.0.0', message: 'differs in purpose' },
              { path: 'pay.refund@1.0.0', message: 'differs in spec.side_effect_class' },
            ],
          },
        })
        expect(await store.version(nextId)).toBeUndefined()
        expect((await store.version(clerkId))?.snapshot).toEqual(clerk)
      })

      test('lists the versions of an agent, newest first, and the agents of a workspace by name', async () => {
        await store.publish(aPublication([clerk]))
        await store.publish(aPublication([next, aSnapshot('pay.auditor', '0.1.0')], { at: NOW + 1 }))
        await store.publish(aPublication([], { workspaceId: ELSEWHERE }))
        const [latest] = await store.versions(AGENT)
        expect((await store.versions(AGENT)).map(({ snapshot }) => snapshot.version)).toEqual(['1.1.0', '1.0.0'])
        expect(await store.versionIdByLabel(AGENT, '1.1.0')).toBe(latest!.id)
        expect(await store.versionIdByLabel(AGENT, '1.1.1')).toBeUndefined()
        expect(await store.agents(WORKSPACE)).toEqual([
          {
            id: agentIdOf('main', 'pay.auditor'),
            workspaceId: WORKSPACE,
            name: 'pay.auditor',
            deployedVersionId: null,
            previousVersionId: null,
            deployedUntil: null,
          },
          {
            id: AGENT,
            workspaceId: WORKSPACE,
            name: 'pay.clerk',
            deployedVersionId: null,
            previousVersionId: null,
            deployedUntil: null,
          },
        ])
        expect(await store.agents(ELSEWHERE)).toEqual([])
      })

      test('deploys a version and remembers the previous one', async () => {
        await store.publish(aPublication([clerk, next]))
        expect(await store.deploy(AGENT, clerkId, NOW, 'operator:ann')).toEqual({ from: null, isChanged: true })
        expect((await store.agent(AGENT))?.deployedVersionId).toBe(clerkId)
        expect(await store.deploy(AGENT, nextId, NOW, 'operator:ann')).toEqual({ from: clerkId, isChanged: true })
        expect(await store.deploy(AGENT, nextId, NOW, 'operator:ann')).toEqual({ from: nextId, isChanged: false })
        expect(await store.agent(AGENT)).toEqual({
          id: AGENT,
          workspaceId: WORKSPACE,
          name: 'pay.clerk',
          deployedVersionId: nextId,
          previousVersionId: clerkId,
          deployedUntil: null,
        })
      })

      test('lists who deployed what and why, newest first', async () => {
        await store.publish(aPublication([clerk, next]))
        await store.deploy(AGENT, clerkId, NOW, 'operator:ann')
        await store.deploy(AGENT, nextId, NOW + 1, 'operator:bob', 'Pays in euro.')
        await store.deploy(AGENT, clerkId, NOW + 2, 'operator:ann', 'Back again.')
        const deployments = [
          {
            versionId: clerkId,
            fromVersionId: nextId,
            at: NOW + 2,
            by: 'operator:ann',
            message: 'Back again.',
            expiresAt: null,
          },
          {
            versionId: nextId,
            fromVersionId: clerkId,
            at: NOW + 1,
            by: 'operator:bob',
            message: 'Pays in euro.',
            expiresAt: null,
          },
          { versionId: clerkId, fromVersionId: null, at: NOW, by: 'operator:ann', expiresAt: null },
        ]
        expect(await store.deployments(AGENT, 10)).toEqual(deployments)
        expect(await store.deployments(AGENT, 2)).toEqual(deployments.slice(0, 2))
      })

      test('a deployment has an end, which the same version gets anew', async () => {
        await store.publish(aPublication([clerk, next]))
        await store.deploy(AGENT, clerkId, NOW, 'operator:ann', undefined, { expiresAt: NOW + DAY })
        expect(await store.lastDeployment(AGENT, nextId)).toBeUndefined()
        const prolong = (expiresAt: number | null) =>
          store.deploy(AGENT, clerkId, NOW + 1, 'operator:ann', undefined, { expiresAt })
        expect(await prolong(NOW + DAY)).toEqual({ from: clerkId, isChanged: false })
        expect(await prolong(NOW + 2 * DAY)).toEqual({ from: clerkId, isChanged: true })
        expect(await store.agent(AGENT)).toMatchObject({ previousVersionId: null, deployedUntil: NOW + 2 * DAY })
        await store.deploy(AGENT, nextId, NOW + 2, 'operator:ann')
        expect(await store.agent(AGENT)).toMatchObject({ previousVersionId: clerkId, deployedUntil: null })
        expect((await store.deployments(AGENT, 10)).map(({ expiresAt }) => expiresAt)).toEqual([
          null,
          NOW + 2 * DAY,
          NOW + DAY,
        ])
        expect(await store.lastDeployment(AGENT, clerkId)).toEqual({ until: NOW + 2 * DAY })
        expect(await store.lastDeployment(AGENT, nextId)).toEqual({ until: null })
      })

      const written = (files: readonly { readonly path: string; readonly text: string }[]) => ({
        closureDigest: digestOf('closure'),
        files,
      })

      test('keeps the files of a publication as they were written first', async () => {
        const published = { ...tool, digest: 'sha256:aa', document: { a: 1 } } as const
        const sources = [
          { path: 'tools/refunds.yaml', text: 'kind: Tool # of ours\n' },
          { path: 'clerk.yaml', text: 'kind: Agent\n' },
        ]
        await store.publish(aPublication([clerk], { documents: [published], written: written(sources) }))
        const kept = {
          closureDigest: digestOf('closure'),
          files: [sources[1]!, sources[0]!].map((file) => ({ ...file, digest: digestOf(file.text) })),
        }
        const { kind, id, version } = published
        expect(await store.sources(WORKSPACE, { kind: 'Agent', id: clerk.id, version: clerk.version })).toEqual(kept)
        expect(await store.sources(WORKSPACE, { kind, id, version })).toEqual(kept)
        await store.publish(
          aPublication([clerk], { written: written([{ path: 'clerk.yaml', text: 'kind: Agent # other\n' }]) }),
        )
        expect(await store.sources(WORKSPACE, { kind, id, version })).toEqual(kept)
        expect(await store.sources(ELSEWHERE, { kind, id, version })).toBeUndefined()
      })

      test('has no files of what was published without them', async () => {
        await store.publish(aPublication([clerk]))
        expect(await store.sources(WORKSPACE, { kind: 'Agent', id: clerk.id, version: clerk.version })).toBeUndefined()
      })

      test('refuses to deploy an unknown version or one of another agent', async () => {
        await store.publish(aPublication([clerk, aSnapshot('pay.auditor', '0.1.0')]))
        await expect(store.deploy(agentIdOf('main', 'pay.auditor'), clerkId, NOW, 'x')).rejects.toMatchObject({
          code: 'not_found',
        })
        await expect(store.deploy(AGENT, nextId, NOW, 'x')).rejects.toMatchObject({ code: 'not_found' })
        expect((await store.agent(AGENT))?.deployedVersionId).toBeNull()
      })

      test('yanks a version and unyanks it', async () => {
        await store.publish(aPublication([clerk]))
        for (const yanked of [true, false]) {
          await store.setYanked(clerkId, yanked)
          expect((await store.version(clerkId))?.yanked).toBe(yanked)
          expect((await store.versions(AGENT)).map((version) => version.yanked)).toEqual([yanked])
        }
        await expect(store.setYanked(nextId, true)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('keeps the reason of a yank until it is taken back', async () => {
        const tool = { kind: 'Tool', id: 'pay.refunds', version: '1.0.0' } as const
        const published = { ...tool, digest: 'sha256:aa', document: { a: 1 } } as const
        await store.publish(aPublication([clerk], { documents: [published] }))
        const yank = async (yanked: boolean, reason?: string) => {
          await store.setYanked(clerkId, yanked, reason)
          await store.setDocumentYanked(WORKSPACE, tool, yanked, reason)
          const [document] = await store.documents(WORKSPACE, 'Tool', 'pay.refunds')
          return [(await store.version(clerkId))?.yankReason, document?.yankReason]
        }
        expect(await yank(true)).toEqual([undefined, undefined])
        expect(await yank(true, 'pays twice')).toEqual(['pays twice', 'pays twice'])
        expect(await yank(true)).toEqual(['pays twice', 'pays twice'])
        expect(await yank(true, 'pays thrice')).toEqual(['pays thrice', 'pays thrice'])
        expect(await yank(false)).toEqual([undefined, undefined])
        expect(await yank(true)).toEqual([undefined, undefined])
      })

      test('yanks a document and unyanks it', async () => {
        const tool = { kind: 'Tool', id: 'pay.refunds', version: '1.0.0' } as const
        const published = { ...tool, digest: 'sha256:aa', document: { a: 1 } } as const
        await store.publish(aPublication([], { documents: [published] }))
        await store.setDocumentYanked(WORKSPACE, tool, true)
        expect(await store.documents(WORKSPACE, 'Tool', 'pay.refunds')).toEqual([{ ...published, yanked: true }])
        await store.setDocumentYanked(WORKSPACE, tool, true)
        await store.setDocumentYanked(WORKSPACE, tool, false)
        expect(await store.documents(WORKSPACE, 'Tool', 'pay.refunds')).toEqual([published])
        for (const other of [{ ...tool, version: '1.0.1' }, { ...tool, kind: 'Policy' } as const])
          await expect(store.setDocumentYanked(WORKSPACE, other, true)).rejects.toMatchObject({ code: 'not_found' })
        await expect(store.setDocumentYanked(ELSEWHERE, tool, true)).rejects.toMatchObject({ code: 'not_found' })
      })
    })

    describe('triggers and keys', () => {
      test('creates, changes and deletes triggers', async () => {
        const other = aTrigger({
          id: nameBasedId('trigger', 'nightly'),
          type: 'schedule',
          name: 'nightly',
          cron: '0 3 * * *',
          timeZone: 'Europe/Berlin',
          agentId: agentIdOf('main', 'pay.other'),
          createdAt: NOW + 1,
        })
        await store.createTrigger(aTrigger())
        await store.createTrigger(other)
        expect(await store.trigger(TRIGGER)).toEqual(aTrigger())
        expect(await store.triggers(WORKSPACE)).toEqual([aTrigger(), other])
        expect(await store.triggers(WORKSPACE, AGENT)).toEqual([aTrigger()])
        expect(await store.triggers(ELSEWHERE)).toEqual([])
        const changed = aTrigger({
          active: false,
          allowIps: [],
          ratePerMinute: null,
          exposeTimeline: false,
          allowDelete: true,
          allowApprovals: false,
          allowOlderVersions: true,
        })
        await store.updateTrigger(changed)
        expect(await store.trigger(TRIGGER)).toEqual(changed)
        await store.deleteTrigger(TRIGGER)
        expect(await store.trigger(TRIGGER)).toBeUndefined()
        await expect(store.deleteTrigger(TRIGGER)).rejects.toMatchObject({ code: 'not_found' })
        await expect(store.updateTrigger(changed)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('stores the instant up to which ticks were processed', async () => {
        await store.createTrigger(aTrigger())
        expect(await store.ticks(WORKSPACE)).toEqual(new Map())
        await store.markTicks(new Map([[TRIGGER, NOW]]))
        await store.updateTrigger(aTrigger({ name: 'other' }))
        expect(await store.ticks(WORKSPACE)).toEqual(new Map([[TRIGGER, NOW]]))
        expect(await store.ticks(ELSEWHERE)).toEqual(new Map())
        await store.markTicks(new Map([[TRIGGER, null]]))
        expect(await store.ticks(WORKSPACE)).toEqual(new Map())
      })

      test('keeps why the last tick of a schedule started nothing, whatever else of it changes', async () => {
        const schedule = aTrigger({ type: 'schedule', cron: '0 3 * * *', input: { order: 'A-1', lines: [1, null] } })
        await store.createTrigger(schedule)
        expect(await store.trigger(TRIGGER)).toEqual(schedule)
        const refusal = { at: NOW, code: 'input_contract_violation', message: '/input/amount is required.' }
        await store.markRefusal(TRIGGER, refusal)
        await store.updateTrigger({ ...schedule, name: 'other', input: null })
        expect(await store.trigger(TRIGGER)).toEqual({ ...schedule, name: 'other', input: null, refusal })
        expect(await store.triggers(WORKSPACE)).toEqual([{ ...schedule, name: 'other', input: null, refusal }])
        await store.markRefusal(TRIGGER, null)
        expect((await store.trigger(TRIGGER))?.refusal).toBeNull()
        await store.deleteTrigger(TRIGGER)
        await store.markRefusal(TRIGGER, refusal)
      })

      test('finds a key by the hash of its secret', async () => {
        await store.createKey(aKey('one'))
        await store.createKey(
          aKey('two', { createdAt: NOW + 1, allowUploads: false, expiresAt: NOW + DAY, name: null, person: 'ana' }),
        )
        expect(await store.keyByHash(aKey('one').hash)).toEqual({ key: aKey('one') })
        await store.createTrigger(aTrigger())
        expect(await store.keyByHash(aKey('one').hash)).toEqual({ key: aKey('one'), trigger: aTrigger() })
        expect(await store.keyByHash('unknown')).toBeUndefined()
        expect(await store.keys(WORKSPACE)).toEqual([
          aKey('one'),
          aKey('two', { createdAt: NOW + 1, allowUploads: false, expiresAt: NOW + DAY, name: null, person: 'ana' }),
        ])
        await expect(store.createKey(aKey('three', { hash: aKey('one').hash }))).rejects.toThrow(/unique/i)
      })

      test('revokes a key once', async () => {
        await store.createKey(aKey('one'))
        await store.revokeKey(keyId('one'), NOW + 5)
        await store.revokeKey(keyId('one'), NOW + 9)
        expect((await store.keyByHash(aKey('one').hash))?.key.revokedAt).toBe(NOW + 5)
        await expect(store.revokeKey(keyId('none'), NOW)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('finds an operator credential by its hash, and never as a key', async () => {
        const [ana, ben] = [anOperatorKey('ana'), anOperatorKey('ben', { roles: [], name: 'b', expiresAt: NOW + DAY })]
        await store.createOperatorKey(ana)
        await store.createOperatorKey(ben)
        expect(await store.operatorKeyByHash(ana.hash)).toEqual(ana)
        expect(await store.operatorKeys(WORKSPACE)).toEqual([ana, ben])
        expect([await store.keyByHash(ana.hash), await store.keys(WORKSPACE)]).toEqual([undefined, []])
        await store.createKey(aKey('one'))
        expect(await store.operatorKeyByHash(aKey('one').hash)).toBeUndefined()
        await expect(store.createOperatorKey({ ...ana, id: keyId('other') })).rejects.toThrow(/unique/i)
      })

      test('revokes an operator credential once, and stores its last use', async () => {
        const ana = anOperatorKey('ana')
        await store.createOperatorKey(ana)
        await store.touchOperatorKey(ana.id, NOW + 3)
        await store.revokeOperatorKey(ana.id, NOW + 5)
        await store.revokeOperatorKey(ana.id, NOW + 9)
        expect(await store.operatorKeyByHash(ana.hash)).toEqual({ ...ana, lastUsedAt: NOW + 3, revokedAt: NOW + 5 })
        await expect(store.revokeOperatorKey(keyId('none'), NOW)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('finds a console session by its hash, and ends it once', async () => {
        await store.createOperatorKey(anOperatorKey('ana'))
        const [ana, ben] = [
          aConsoleSession('ana', { keyId: keyId('ana') }),
          aConsoleSession('ben', { createdAt: NOW + 1 }),
        ]
        await store.createConsoleSession(ana)
        await store.createConsoleSession(ben)
        expect(await store.consoleSessions(WORKSPACE, 10)).toEqual([ben, ana])
        expect(await store.consoleSessions(WORKSPACE, 1)).toEqual([ben])
        await store.touchConsoleSession(ana.id, NOW + 3)
        await store.endConsoleSession(ana.id, NOW + 5)
        await store.endConsoleSession(ana.id, NOW + 9)
        expect(await store.consoleSessionByHash(ana.hash)).toEqual({ ...ana, lastUsedAt: NOW + 3, endedAt: NOW + 5 })
        expect(await store.operatorKeyByHash(ben.hash)).toBeUndefined()
        await expect(store.createConsoleSession({ ...ben, id: ana.id })).rejects.toThrow(/unique/i)
        const none = aConsoleSession('none')
        await expect(store.endConsoleSession(none.id, NOW)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('makes one session of a sign-in at a provider, and ends all of a person', async () => {
        const provider = { issuer: 'https://login.acme.example', subject: 'u-1', groups: ['treasury'] }
        const first = aConsoleSession('ana', { provider, signIn: 'begun', expiresAt: NOW + DAY })
        const again = aConsoleSession('again', { ...first, id: aConsoleSession('again').id, hash: 'other' })
        const command = aConsoleSession('command', { operator: first.operator, purpose: 'command', createdAt: NOW + 1 })
        const ben = aConsoleSession('ben', { createdAt: NOW + 2 })
        await store.createConsoleSession(first)
        await expect(store.createConsoleSession(again)).rejects.toMatchObject({ code: 'sign_in_refused' })
        for (const each of [command, ben]) await store.createConsoleSession(each)
        expect(await store.consoleSessions(WORKSPACE, 10)).toEqual([ben, command, first])
        expect(await store.endConsoleSessionsOf(WORKSPACE, first.operator, NOW + 5)).toBe(true)
        expect(await store.endConsoleSessionsOf(WORKSPACE, first.operator, NOW + 9)).toBe(false)
        expect((await store.consoleSessions(WORKSPACE, 10)).map(({ endedAt }) => endedAt)).toEqual([
          null,
          NOW + 5,
          NOW + 5,
        ])
      })

      test('keeps passkeys, the later count of their signatures, and no removed one in the list', async () => {
        const laptop = aPasskey('laptop')
        await store.createPasskey(laptop)
        await store.createPasskey(aPasskey('phone', { createdAt: NOW + 1, isDeviceBound: false, isBackedUp: true }))
        await expect(store.createPasskey({ ...laptop, id: 'other' as never })).rejects.toThrow(/unique/i)
        await store.usePasskey(laptop.id, { signCount: 7, isBackedUp: true, at: NOW + 2 })
        await store.usePasskey(laptop.id, { signCount: 6, isBackedUp: false, at: NOW + 3 })
        expect(await store.passkeys(WORKSPACE)).toEqual([
          { ...laptop, signCount: 7, lastUsedAt: NOW + 3 },
          aPasskey('phone', { createdAt: NOW + 1, isDeviceBound: false, isBackedUp: true }),
        ])
        expect([await store.removePasskey(laptop.id, NOW + 4), await store.removePasskey(laptop.id, NOW + 5)]).toEqual([
          true,
          false,
        ])
        expect((await store.passkeys(WORKSPACE)).map(({ name }) => name)).toEqual(['phone'])
      })

      test('keeps each trust document that was in force, and takes the next only after the one that was checked', async () => {
        const first = aTrust(1)
        expect(await store.trust(WORKSPACE)).toBeUndefined()
        await store.installTrust(first, undefined)
        expect(await store.trust(WORKSPACE)).toEqual(first)
        const [one, other] = [aTrust(2), aTrust(3)]
        const both = await Promise.allSettled([
          store.installTrust(one, first.digest),
          store.installTrust(other, first.digest),
        ])
        expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
        expect([one, other]).toContainEqual(await store.trust(WORKSPACE))
        await expect(store.installTrust(aTrust(4), undefined)).rejects.toMatchObject({ code: 'trust_refused' })
      })

      test('keeps what was signed with what it is about, and no revision twice or out of order', async () => {
        const publication = aPublication([aSnapshot('pay.clerk', '1.0.0'), aSnapshot('pay.clerk', '2.0.0')])
        const published = anAttestation('published', { kind: 'publication', agent: null, revision: null })
        await store.publish({ ...publication, attestations: [published] })
        await store.publish({ ...publication, attestations: [published] })
        expect(await store.attestations(WORKSPACE, [published.subject])).toEqual([published])
        const [one, two] = publication.agents.map(({ id }) => id)
        const { agentId } = publication.agents[0]!
        const deploy = (id: typeof one, revision: number, from: typeof one | null) =>
          store.deploy(agentId, id!, NOW, 'ana', undefined, {
            signed: {
              attestation: anAttestation(`revision ${revision}`, { revision, at: NOW + revision }),
              from: from!,
            },
          })
        const regression = { code: 'deploy_regression' }
        await expect(deploy(one, 2, null)).rejects.toMatchObject(regression)
        await deploy(one, 1, null)
        await expect(deploy(two, 1, one)).rejects.toMatchObject(regression)
        await expect(deploy(two, 2, null)).rejects.toMatchObject(regression)
        expect((await store.agent(agentId))?.deployedVersionId).toBe(one)
        const both = await Promise.allSettled([deploy(two, 2, one), deploy(two, 2, one)])
        // The second finds the version deployed already.
        expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
        await deploy(one, 3, two)
        expect(await store.deploymentRevision(WORKSPACE, 'pay.clerk')).toBe(3)
        expect(await store.deploymentRevision(WORKSPACE, 'pay.other')).toBe(0)
        const kept = await store.attestations(WORKSPACE, [anAttestation('').subject])
        expect(kept.map(({ revision }) => revision)).toEqual([1, 2, 3])
      })

      test('keeps the last report of a checkpoint of each workspace', async () => {
        expect(await store.checkpointReport(WORKSPACE)).toBeUndefined()
        const report = { workspaceId: WORKSPACE, at: NOW, by: 'operator:ann', size: 3 }
        await store.keepCheckpointReport(report)
        expect(await store.checkpointReport(WORKSPACE)).toEqual(report)
        const next = { ...report, at: NOW - 1, by: 'operator:bob', size: 2 ** 40 }
        await store.keepCheckpointReport(next)
        expect(await store.checkpointReport(WORKSPACE)).toEqual(next)
        expect(await store.checkpointReport(ELSEWHERE)).toBeUndefined()
      })

      test('keeps the newest evaluations of a workspace, of all agents or of one', async () => {
        const [one, two, other] = [
          anEvaluation('one'),
          anEvaluation('two', { at: NOW + 1 }),
          anEvaluation('other', { at: NOW + 2, agent: 'pay.other' }),
        ]
        for (const each of [one, two, other]) await store.keepEvaluation(each, 3)
        const all = { skip: 0, take: 9 }
        expect(await store.evaluations(WORKSPACE, all)).toEqual({ items: [other, two, one], total: 3 })
        expect(await store.evaluations(WORKSPACE, { skip: 1, take: 1 })).toEqual({ items: [two], total: 3 })
        expect(await store.evaluations(WORKSPACE, { ...all, agent: 'pay.clerk' })).toEqual({
          items: [two, one],
          total: 2,
        })
        const last = anEvaluation('last', { at: NOW + 3 })
        await store.keepEvaluation(last, 3)
        expect(await store.evaluations(WORKSPACE, all)).toEqual({ items: [last, other, two], total: 3 })
      })

      test('lets a secret be used once, until it expires', async () => {
        const token = aOneTimeToken('one')
        await store.putOneTimeToken(token, NOW)
        expect(await store.oneTimeToken(token.hash)).toEqual(token)
        const used = await Promise.all([1, 2, 3].map(() => store.useOneTimeToken(token.hash, NOW + 1)))
        expect(used.filter(Boolean)).toHaveLength(1)
        expect(await store.oneTimeToken(token.hash)).toEqual({ ...token, usedAt: NOW + 1 })
        await store.putOneTimeToken(aOneTimeToken('two'), NOW)
        expect(await store.useOneTimeToken(aOneTimeToken('two').hash, token.expiresAt)).toBe(false)
        expect(await store.useOneTimeToken(aOneTimeToken('none').hash, NOW)).toBe(false)
        await store.putOneTimeToken(aOneTimeToken('three', { expiresAt: NOW + DAY }), token.expiresAt + 1)
        expect(await store.oneTimeToken(token.hash)).toBeUndefined()
      })

      test('tells who looks at which task until then, and forgets who does not any more', async () => {
        const task = aTask(aSession('one'), 'one')
        const claim = (operator: string, given: Partial<TaskClaim> = {}): TaskClaim => ({
          workspaceId: WORKSPACE,
          taskId: task.id,
          operator: `operator:${operator}`,
          at: NOW,
          until: NOW + 100,
          ...given,
        })
        const [ana, bo] = [claim('ana'), claim('bo', { at: NOW + 1, until: NOW + 50 })]
        await store.putTaskClaim(bo, task)
        await store.putTaskClaim(ana, task)
        expect(await store.taskClaims(WORKSPACE, NOW + 2)).toEqual([ana, bo])
        expect(await store.taskClaims(WORKSPACE, NOW + 50)).toEqual([ana])
        await store.putTaskClaim({ ...ana, at: NOW + 60, until: NOW + 160 }, task)
        expect(await store.taskClaims(WORKSPACE, NOW + 60)).toEqual([{ ...ana, until: NOW + 160 }])
        expect(await store.taskClaims(WORKSPACE, NOW + 2)).toEqual([{ ...ana, until: NOW + 160 }])
        await store.endTaskClaim(task, ana.operator)
        await store.endTaskClaim(task, ana.operator)
        expect(await store.taskClaims(WORKSPACE, NOW)).toEqual([])
      })

      test('returns the last use of a key, before and after it is written', async () => {
        await store.createKey(aKey('one'))
        const lastUse = async () => (await store.keyByHash(aKey('one').hash))?.key.lastUsedAt
        store.touchKey(keyId('one'), NOW + 1)
        store.touchKey(keyId('one'), NOW + 2)
        expect(await lastUse()).toBe(NOW + 2)
        await store.createKey(aKey('two'))
        expect(await lastUse()).toBe(NOW + 2)
      })
    })

    describe('files', () => {
      test('lists a file and finds it by name once it is finalized', async () => {
        const file = aFile('a.txt')
        await store.presignFile(file, null)
        expect(await store.fileByKey(WORKSPACE, file.objectKey)).toEqual(file)
        expect(await store.fileByName(WORKSPACE, 'a.txt')).toBeUndefined()
        expect(await store.files(WORKSPACE, ALL)).toEqual({ items: [], total: 0 })
        await store.finalizeFile(file.id, 12, NOW + 5)
        await store.finalizeFile(file.id, 99, NOW + 9)
        const stored = { ...file, sizeBytes: 12, finalizedAt: NOW + 5 }
        expect(await store.fileByName(WORKSPACE, 'a.txt')).toEqual(stored)
        expect(await store.fileByName(ELSEWHERE, 'a.txt')).toBeUndefined()
        expect(await store.fileByKey(ELSEWHERE, file.objectKey)).toBeUndefined()
        expect(await store.files(WORKSPACE, ALL)).toEqual({ items: [stored], total: 1 })
        await expect(store.finalizeFile(fileId('none'), 1, NOW)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('never exceeds the quota, even with parallel presigns', async () => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 50 }, (_, index) => store.presignFile(aFile(`f${index}`, { maxBytes: 100 }), 1000)),
        )
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
        expect(outcomes.at(-1)).toMatchObject({ reason: { code: 'storage_limit_exceeded' } })
        expect(await store.presignFile(aFile('elsewhere', { workspaceId: ELSEWHERE }), 1000)).toBeUndefined()
      })

      test('frees the unused part of an upload, expired uploads and deleted files', async () => {
        const presign = (name: string, maxBytes: number, createdAt = NOW) =>
          store.presignFile(aFile(name, { maxBytes, createdAt }), 1000)
        await presign('a', 600)
        await expect(presign('b', 500)).rejects.toMatchObject({ code: 'storage_limit_exceeded' })
        await store.finalizeFile(fileId('a'), 100, NOW)
        await presign('b', 900)
        await expect(presign('c', 1)).rejects.toMatchObject({ code: 'storage_limit_exceeded' })
        await presign('d', 900, NOW + 900_000)
        await store.deleteFile(fileId('d'))
        await store.deleteFile(fileId('a'))
        await store.deleteFile(fileId('a'))
        await presign('e', 1000, NOW + 900_000)
      })

      test('lists files whose address expired until their upload is closed', async () => {
        await store.presignFile(aFile('late', { expiresAt: NOW + 20 }), null)
        await store.presignFile(aFile('early', { expiresAt: NOW + 10 }), null)
        await store.presignFile(aFile('kept', { expiresAt: NOW + 5 }), null)
        await store.finalizeFile(fileId('kept'), 1, NOW)
        const expired = async (at: number, limit = 10) =>
          (await store.expiredUploads(at, limit)).map(({ filename }) => filename)
        expect(await expired(NOW + 5)).toEqual([])
        expect(await expired(NOW + 21)).toEqual(['kept', 'early', 'late'])
        expect(await expired(NOW + 21, 1)).toEqual(['kept'])
        await store.closeUpload(fileId('kept'))
        await store.deleteFile(fileId('early'))
        expect(await expired(NOW + 21)).toEqual(['late'])
        expect(await store.fileByName(WORKSPACE, 'kept')).toMatchObject({ sizeBytes: 1, stagingKey: '' })
      })
    })

    test('finishes pending writes before it closes', async () => {
      const starting = store.start(aStart('a'), NO_LIMITS)
      await Promise.all([starting, store.close()])
      await expect(starting).resolves.toEqual({ outcome: 'started' })
      await expect(store.save(anUpdate(aSession('a')))).rejects.toThrow('not open')
    })
  })
}
