/** What every store promises of sessions that go on, are named, erased and deleted. Each backend runs the whole list. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import type { TriggerId } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { wellFormedJson } from '../../src/base/json/well-formed.ts'
import type { SessionUpdate } from '../../src/store/session-update.ts'
import type { Store } from '../../src/store/store.ts'
import {
  AGENT,
  NOW,
  NO_LIMITS,
  TRIGGER,
  WORKSPACE,
  aRun,
  aSession,
  aStart,
  aStep,
  aTask,
  anUpdate,
  runId,
  sessionId,
} from './makers.ts'

const DAY = 24 * 3_600_000
const ENDED = { status: 'Completed', finishedAt: NOW + 10, output: 'secret output' } as const

/** At least one half of a pair, between other characters and text that looks like an escaped half. */
const textWithHalves = fc
  .tuple(
    fc.array(fc.constantFrom('a', '😀', '\\', '\\ud800', '"', '\udc00', '\ud83d'), { maxLength: 6 }),
    fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit)),
  )
  .map(([parts, half]) => `${parts.join('')}x${half}x`)

export function sessionContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`sessions, ${name}`, () => {
    let now = NOW
    let store: Store
    beforeEach(async () => {
      now = NOW
      store = await open({ now: () => now, monotonic: () => now })
    })
    afterEach(() => store.close())

    const start = async (
      name: string,
      ...more: Parameters<typeof aStart> extends [string, ...infer Rest] ? Rest : never
    ) => {
      expect(await store.start(aStart(name, ...more), NO_LIMITS)).toEqual({ outcome: 'started' })
      return (await store.session(sessionId(name)))!
    }
    /** An ended session with a step, a call and a task of everything that an erasure empties. */
    const storeEnded = async (name: string, about: Parameters<typeof aStart>[1] = {}) => {
      const session = aSession(name, { ...ENDED, input: { order: 'secret input' }, lastOrdinal: 1, ...about })
      const run = aRun(session, {
        state: { at: 'done', outcome: 'completed', output: 'secret output' },
        error: null,
      })
      const call = {
        sessionId: session.id,
        runId: run.id,
        callId: 'c1',
        agentId: AGENT,
        ref: 'acme.refunds',
        argumentsDigest: 'sha256:1' as never,
        arguments: { amount: 180, to: 'secret person', lines: [{ n: 2, what: 'secret line' }] },
        state: 'executed',
        attempt: 1,
        idempotencyKey: `svc:${run.id}:1:0`,
        at: NOW + 5,
      }
      const task = aTask(session, `task of ${name}`, {
        status: 'completed',
        title: 'secret title',
        answer: { outcome: 'approved', approved: true, completedBy: 'key:1', comment: 'secret comment' },
      })
      return start(name, about, {
        session,
        runs: [run],
        steps: [aStep(session, 1, { content: { text: 'secret words' }, hidden: { signature: 'secret thought' } })],
        calls: [call],
        tasks: [task],
        busy: false,
      })
    }

    test('keeps well-formed Unicode, wherever a half of a pair stands', async () => {
      let number = 0
      await fc.assert(
        fc.asyncProperty(textWithHalves, async (text) => {
          const value: JsonObject = { [text]: [text, { text }] }
          // Longer than what is stored beside its step.
          const large = { large: [text.repeat(1 + 100_000 / text.length)] }
          const session = aSession(`halves ${++number}`, { ...ENDED, input: value, output: value, lastOrdinal: 2 })
          const run = aRun(session, {
            input: value,
            output: value,
            state: { at: 'done', outcome: 'completed', output: value },
          })
          const steps = [
            aStep(session, 1, { content: { text }, hidden: value }),
            aStep(session, 2, { type: 'ToolResult', content: { result: large } }),
          ]
          const call = {
            sessionId: session.id,
            runId: run.id,
            callId: 'c1',
            agentId: AGENT,
            ref: 'acme.refunds',
            argumentsDigest: 'sha256:1' as never,
            arguments: value,
            state: 'executed',
            attempt: 1,
            idempotencyKey: `svc:${run.id}:1:0`,
            at: NOW + 5,
          }
          const vote = { approver: 'operator:ada', approved: true, at: NOW, comment: text }
          const task = aTask(session, `halves ${number}`, { title: text, arguments: value, votes: [vote] })
          const update = { session, runs: [run], steps, calls: [call], tasks: [task], busy: false }
          const started = aStart(`halves ${number}`, session, update)
          const [first, ...events] = started.events as readonly Extract<
            (typeof started.events)[number],
            { data: unknown }
          >[]
          const said = { ...started, events: [{ ...first!, data: value }, ...events] }
          expect(await store.start(said, NO_LIMITS)).toEqual({ outcome: 'started' })
          const given = [value, value, value, { text }, value, { result: large }, [value], text, value, text, value]
          const storedSteps = await store.stepsOfSession(session.id)
          const [storedTask] = await store.tasksOfSession(session.id)
          expect([
            (await store.session(session.id))!.input,
            (await store.session(session.id))!.output,
            (await store.run(run.id))!.output,
            storedSteps[0]!.content,
            storedSteps[0]!.hidden,
            storedSteps[1]!.content,
            (await store.calls({ sessionId: session.id })).map((row) => row.arguments),
            storedTask!.title,
            storedTask!.arguments,
            storedTask!.votes[0]!.comment,
            (await store.events(session.id, 0, 1))[0]!.data,
          ]).toEqual(wellFormedJson(given))
        }),
        { numRuns: 20 },
      )
    })

    test('another start of a stored session makes its run the newest root run, and the first keeps its input', async () => {
      const first = await start('s', { ...ENDED, input: { order: 'first' } })
      const next = { ...first, rootRunId: runId('second'), entryRunId: first.rootRunId, input: { order: 'second' } }
      const session = { ...next, status: 'Running', finishedAt: null, output: null } as const
      const update: SessionUpdate = {
        ...anUpdate(session, {
          runs: [aRun(session, { starter: { ...starter, triggeredBy: 'key:2' } })],
          subjects: ['engine.session.resumed'],
        }),
        labels: { tags: ['new'] },
      }
      expect(await store.start(update, NO_LIMITS)).toEqual({ outcome: 'started' })
      expect(await store.session(first.id)).toMatchObject({
        rootRunId: runId('second'),
        entryRunId: first.rootRunId,
        status: 'Running',
        finishedAt: null,
        input: { order: 'second' },
        tags: ['new'],
        triggeredBy: 'key:1',
        version: 2,
      })
      expect(await store.run(first.rootRunId)).toMatchObject({ input: { order: 'first' } })
      expect(await store.run(runId('second'))).toMatchObject({
        input: { order: 'second' },
        starter: { ...starter, triggeredBy: 'key:2' },
      })
      expect(
        (await store.sessions({ workspaceId: WORKSPACE, agentId: AGENT, tag: 'new' }, { skip: 0, take: 5 })).total,
      ).toBe(1)
      await expect(store.start(update, NO_LIMITS)).rejects.toMatchObject({ code: 'run_moved_on' })
    })

    test.each([
      ['a session that an operator began', null],
      ['a session of its own', TRIGGER],
    ])('a run that continues %s counts once for the trigger that started it', async (_, triggerId) => {
      const limits = { ...NO_LIMITS, maxConcurrentRuns: 1 }
      const another = async (name: string) => (await store.start(aStart(name), limits)).outcome
      const first = await start('s', { ...ENDED, triggerId })
      const running = { status: 'Running', finishedAt: null, rootRunId: runId('second') } as const
      const session = { ...first, ...running, entryRunId: first.rootRunId }
      const run = aRun(session, { starter: { ...starter, triggerId: TRIGGER } })
      expect(await store.start({ ...anUpdate(session, { runs: [run] }), busy: false }, limits)).toEqual({
        outcome: 'started',
      })
      expect(await another('refused')).toBe('concurrency_limited')
      expect((await store.start(aStart('free', { triggerId: null }), limits)).outcome).toBe('started')
      const ended = { ...session, ...ENDED, version: 2 }
      await store.save(anUpdate(ended, { runs: [aRun(ended, { starter: run.starter! })], busy: false }))
      expect(await another('accepted')).toBe('started')
    })

    test('counts the sessions of each status, through every change of it', async () => {
      const count = async (...status: string[]) =>
        (await store.sessions({ workspaceId: WORKSPACE, agentId: AGENT, status }, { skip: 0, take: 5 })).total
      const running = await start('a')
      await start('b', ENDED)
      await start('c', ENDED)
      expect([await count('Running'), await count('Completed'), await count('Running', 'Completed', 'Failed')]).toEqual(
        [1, 2, 3],
      )
      await store.save(anUpdate({ ...running, ...ENDED }, { runs: [aRun({ ...running, ...ENDED })], busy: false }))
      expect([await count('Running'), await count('Completed')]).toEqual([0, 3])
      expect(await store.deleteEndedSessions(NOW + DAY, 2)).toEqual({ deleted: 2, more: true })
      expect([await count('Running'), await count('Completed')]).toEqual([0, 1])
      await store.deleteAllRuns()
      expect([await count('Running'), await count('Completed')]).toEqual([0, 0])
    })

    test('pages of statuses follow each other without a gap, whatever starts meanwhile', async () => {
      for (const [at, status] of (['Completed', 'Failed', 'Completed', 'Failed', 'Running'] as const).entries())
        await start(
          `s${at}`,
          status === 'Running' ? { startedAt: NOW + at } : { ...ENDED, status, startedAt: NOW + at },
        )
      const filter = { workspaceId: WORKSPACE, agentId: AGENT, status: ['Completed', 'Failed'] }
      const first = await store.sessions(filter, { skip: 0, take: 3 })
      await start('later', { ...ENDED, startedAt: NOW + 9 })
      const second = await store.sessions(filter, { skip: 0, take: 3, after: first.next! })
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['s3', 's2', 's1', 's0'].map(sessionId))
      expect(second.next).toBeNull()
      expect((await store.sessions(filter, { skip: 1, take: 2 })).items.map(({ id }) => id)).toEqual(
        ['s3', 's2'].map(sessionId),
      )
      const since = { ...filter, from: NOW + 2, to: NOW + 9 }
      expect(await store.sessions(since, { skip: 0, take: 9 })).toMatchObject({ total: 2 })
    })

    test('labels are set and removed, and tags are found', async () => {
      const { id } = await start('s', { tags: ['old'], metadata: { a: '1' } })
      await store.labelSession(id, { title: 'Talk', tags: ['new'] })
      expect(await store.session(id)).toMatchObject({ title: 'Talk', tags: ['new'], metadata: { a: '1' } })
      const tagged = async (tag: string) =>
        (await store.sessions({ workspaceId: WORKSPACE, agentId: AGENT, tag }, { skip: 0, take: 5 })).items.length
      expect([await tagged('old'), await tagged('new')]).toEqual([0, 1])
      const { triggerId } = (await store.session(id))!
      const of = async (triggers: readonly (TriggerId | null)[]) =>
        (await store.sessions({ workspaceId: WORKSPACE, agentId: AGENT, triggers }, { skip: 0, take: 5 })).total
      expect([await of([triggerId, null]), await of([]), await of(['other' as TriggerId])]).toEqual([1, 0, 0])
      await store.labelSession(id, { title: null, tags: [], metadata: {}, legalHold: true })
      const session = (await store.session(id))!
      expect([session.title, session.tags, session.metadata, session.legalHold]).toEqual([undefined, [], {}, true])
      await expect(store.labelSession(sessionId('none'), { title: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    })

    test('an erasure leaves nothing of what was said, and what happened stays', async () => {
      const { id, rootRunId } = await storeEnded('s', { tags: ['secret tag'], metadata: { a: 'secret value' } })
      await store.labelSession(id, { title: 'secret title' })
      await store.eraseSession(id, NOW + DAY)
      const left = JSON.stringify([
        await store.session(id),
        await store.run(rootRunId),
        await store.stepsOfSession(id),
        await store.events(id, 0, 100),
        await store.calls({ sessionId: id }),
        await store.tasksOfSession(id),
      ])
      expect(left).not.toContain('secret')
      expect(await store.session(id)).toMatchObject({ erasedAt: NOW + DAY, status: 'Completed', output: null })
      expect(await store.run(rootRunId)).toMatchObject({
        status: 'Completed',
        state: { at: 'done', outcome: 'completed' },
      })
      const [step, ...none] = await store.stepsOfSession(id)
      expect([step, none]).toMatchObject([{ ordinal: 1, type: 'Reasoning', tokensUsed: 7 }, []])
      expect(step?.content).toEqual({})
      expect(await store.calls({ sessionId: id })).toMatchObject([
        {
          ref: 'acme.refunds',
          arguments: { amount: 180, lines: [{ n: 2 }] },
          state: 'executed',
          argumentsDigest: 'sha256:1',
        },
      ])
      expect(await store.tasksOfSession(id)).toMatchObject([
        {
          kind: 'approval',
          status: 'completed',
          answer: { outcome: 'approved', approved: true, completedBy: 'key:1' },
        },
      ])
      await store.eraseSession(id, NOW + 2 * DAY)
      expect((await store.session(id))!.erasedAt).toBe(NOW + DAY)
      await expect(store.labelSession(id, { title: 'x' })).rejects.toMatchObject({ code: 'session_erased' })
    })

    test('a save of what was read before an erasure is refused', async () => {
      const session = await storeEnded('s')
      await store.eraseSession(session.id, NOW + DAY)
      await expect(store.save(anUpdate(session))).rejects.toMatchObject({ code: 'run_moved_on' })
    })

    test('nothing is erased that works, waits for a person, or is under a legal hold', async () => {
      const working = await start('working')
      await expect(store.eraseSession(working.id, NOW)).rejects.toMatchObject({ code: 'session_not_ended' })
      const reviewed = aSession('reviewed', ENDED)
      await start('reviewed', ENDED, { session: reviewed, tasks: [aTask(reviewed, 'review')], busy: false })
      await expect(store.eraseSession(reviewed.id, NOW)).rejects.toMatchObject({ code: 'session_not_ended' })
      const held = await storeEnded('held')
      await store.labelSession(held.id, { legalHold: true })
      await expect(store.eraseSession(held.id, NOW)).rejects.toMatchObject({ code: 'session_on_hold' })
      await expect(store.eraseSession(sessionId('none'), NOW)).rejects.toMatchObject({ code: 'not_found' })
      expect(await store.deleteEndedSessions(NOW + DAY, 10)).toEqual({ deleted: 0, more: false })
    })

    test('retention leaves a session that has ended while a run in it undoes what it made', async () => {
      const session = await storeEnded('undone')
      const undo = aRun(session, {
        id: runId('undo'),
        parentRunId: session.rootRunId,
        status: 'Running',
        finishedAt: null,
        origin: {
          kind: 'undo',
          runId: session.rootRunId,
          callId: 'c1',
          tool: 'acme.pay',
          by: 'operator:ana',
          reason: null,
          first: runId('undo'),
        },
      })
      await store.save(anUpdate(session, { runs: [undo], busy: true }))
      expect(await store.deleteEndedSessions(NOW + DAY, 10)).toEqual({ deleted: 0, more: false })
      const stored = (await store.session(session.id))!
      const state = { at: 'done', outcome: 'completed', output: null } as const
      await store.save(
        anUpdate(stored, { runs: [{ ...undo, state, status: 'Completed', finishedAt: NOW + 1 }], busy: false }),
      )
      expect((await store.run(undo.id))?.origin).toEqual(undo.origin)
      expect(await store.deleteEndedSessions(NOW + DAY, 10)).toEqual({ deleted: 1, more: false })
    })

    test('retention deletes what ended before, and leaves counts, costs and a record of each call', async () => {
      await storeEnded('old', { tags: ['t'] })
      await storeEnded('new', { finishedAt: NOW + 5 * DAY })
      expect(await store.deleteEndedSessions(NOW + DAY, 10)).toEqual({ deleted: 1, more: false })
      expect(await store.session(sessionId('old'))).toBeUndefined()
      expect(await store.run(runId('old'))).toBeUndefined()
      expect(await store.session(sessionId('new'))).toBeDefined()
      expect(await store.sessions({ workspaceId: WORKSPACE, agentId: AGENT }, { skip: 0, take: 5 })).toMatchObject({
        total: 1,
      })
      expect(await store.runs({ workspaceId: WORKSPACE, agentId: AGENT }, { skip: 0, take: 5 })).toMatchObject({
        total: 1,
      })
      expect(await store.deleteKeptCalls(NOW, 10)).toBe(0)
      expect(await store.deleteKeptCalls(NOW + DAY, 10)).toBe(1)
    })
  })
}

const starter = {
  triggerType: 'api',
  triggeredBy: 'key:1',
  person: null,
  triggerId: TRIGGER,
  triggerName: 'api',
} as const
