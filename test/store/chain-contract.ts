/** Chains of every store: each save adds a link, which covers what it stored, after the link before. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { digestOf } from '../../src/base/digest.ts'
import type { Session } from '../../src/spec/run/session.ts'
import type { CallRow, EffectChange } from '../../src/store/session-update.ts'
import type { Store } from '../../src/store/store.ts'
import { createRowVerifier } from '../../src/spec/chain/verify-rows.ts'
import { aRun, aStart, aStep, aTask, anUpdate, NO_LIMITS, NOW, sessionId, WORKSPACE } from './makers.ts'
import { findChainOffence } from './verify-chain.ts'

const LARGE = 'x'.repeat(300_000)

export function chainContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`chains of sessions, ${name}`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open({ now: () => NOW, monotonic: () => NOW })
    })
    afterEach(() => store.close())

    const read = async (id: string): Promise<Session> => (await store.session(sessionId(id)))!
    const links = (id: string) => store.linksOf(sessionId(id), 0, 100)

    /** A session with open and closed steps, errors, texts that databases change, and a large result. */
    const runToEnd = async (id: string, about: Partial<Session> = {}): Promise<void> => {
      await store.start(aStart(id, about), NO_LIMITS)
      const one = await read(id)
      const event = (seq: number, subject: string, ordinal: number) =>
        ({ sessionId: one.id, seq, runId: one.rootRunId, ts: NOW + seq, kind: 'step', subject, ordinal }) as const
      const open = aStep(one, 1, { finishedAt: null, content: { 'ä "\u0001': '\0 \ud800' } })
      await store.save({
        ...anUpdate(one),
        session: { ...one, lastSeq: 3, lastOrdinal: 1 },
        steps: [open],
        events: [event(3, 'engine.step.started', 1)],
      })
      const two = await read(id)
      const result = aStep(two, 2, {
        type: 'ToolResult',
        content: { tool_call_id: 'c', result: LARGE },
        hidden: { a: 1 },
        error: 'it\n\0 \ud800 broke',
      })
      const both = aStep(two, 3)
      await store.save({
        ...anUpdate(two),
        session: { ...two, lastSeq: 7, lastOrdinal: 4 },
        // The last one is shown by no event of its own.
        steps: [result, both, aStep(two, 4, { type: 'RunCompleted', error: 'late' })],
        closedSteps: [{ id: open.id, ordinal: 1, finishedAt: NOW + 9, error: 'broken\0' }],
        events: [
          event(4, 'engine.step.failed', 1),
          event(5, 'engine.step.failed', 2),
          event(6, 'engine.step.started', 3),
          event(7, 'engine.step.completed', 3),
        ],
      })
      // Nothing that a chain covers.
      const three = await read(id)
      await store.save(anUpdate(three))
      const four = await read(id)
      const done = { ...four, status: 'Completed' as const, finishedAt: NOW + 20, output: 'secret' }
      await store.save(
        anUpdate(four, {
          session: done,
          runs: [aRun(done, { state: { at: 'done', outcome: 'completed', output: 'secret' }, lastSequence: 4 })],
          subjects: ['engine.run.completed'],
          busy: false,
        }),
      )
    }
    const verify = (id: string) => findChainOffence(store, sessionId(id))

    test('each save with events is a link after the one before, and the whole holds', async () => {
      await runToEnd('a')
      expect(
        (await links('a')).map(({ version, events, steps }) => [version, events.map(({ seq }) => seq), steps.length]),
      ).toEqual([
        [1, [1, 2], 0],
        [2, [3], 1],
        [3, [4, 5, 6, 7], 3],
        [5, [8], 0],
      ])
      expect(await verify('a')).toBeUndefined()
      expect(await store.linksOf(sessionId('a'), 3, 1)).toEqual((await links('a')).slice(3))
    })

    test('a refused save adds no link', async () => {
      await store.start(aStart('a'), NO_LIMITS)
      const stale = anUpdate({ ...(await read('a')), version: 7 }, { subjects: ['engine.run.paused'] })
      await expect(store.save(stale)).rejects.toMatchObject({ code: 'run_moved_on' })
      expect(await links('a')).toHaveLength(1)
    })

    test('of two saves at once one is refused, and the chain holds', async () => {
      await store.start(aStart('a'), NO_LIMITS)
      const session = await read('a')
      const update = anUpdate(session, { subjects: ['engine.run.paused'] })
      const saved = await Promise.allSettled([store.save(update), store.save(update)])
      expect(saved.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(await verify('a')).toBeUndefined()
    })

    test('an erasure leaves the chain whole, and takes content and salt', async () => {
      await runToEnd('a')
      await runToEnd('b')
      const before = await links('a')
      await store.eraseSession(sessionId('a'), NOW)
      expect(await verify('a')).toBeUndefined()
      expect(await links('a')).toEqual(
        before.map(({ results: _results, ...link }) => ({ ...link, content: null, salt: null })),
      )
      expect(JSON.stringify(await links('b'))).toContain('xxx')
      expect(await verify('b')).toBeUndefined()
    })

    test('rows that saves overwrite are what the last save made of them, and another row is found', async () => {
      await store.start(aStart('a'), NO_LIMITS)
      const one = await read('a')
      const vote = (name: string) => ({ approver: `operator:${name}`, approved: true, at: NOW, comment: '\u00e4 "' })
      const task = aTask(one, 'a', { votes: [vote('ana')] })
      const call: CallRow = {
        sessionId: one.id,
        runId: one.rootRunId,
        callId: 'c "1"',
        agentId: one.agentId,
        ref: 'pay.transfer',
        argumentsDigest: digestOf('{}'),
        arguments: { amount: 180 },
        state: 'awaiting',
        attempt: 1,
        idempotencyKey: 'svc:c',
        at: NOW,
      }
      await store.save({ ...anUpdate(one, { busy: false }), tasks: [task], calls: [call] })
      const two = await read('a')
      // An edit voids the first vote.
      const decided = { ...task, status: 'completed', votes: [vote('ben')] } as const
      const runs = [aRun(two, { state: { at: 'backing_off', turn: 1, attempt: 1, until: NOW } })]
      await store.save({
        ...anUpdate(two, { runs, busy: false }),
        tasks: [decided],
        calls: [{ ...call, state: 'executed' }],
      })
      expect(await verify('a')).toBeUndefined()
      const { rows } = (await store.sessionRows(sessionId('a')))!
      const names = rows!.map(({ name }) => name.split(' ')[0])
      expect(names).toEqual(['session', 'start', 'input', 'run', 'call', 'task', 'vote', 'vote'])
      const offenceOf = async (changed: typeof rows) => {
        const verifier = createRowVerifier(sessionId('a'))
        for (const link of await links('a')) verifier.add(link)
        return verifier.check(changed!)?.what.replaceAll(/ \(session .*/g, '')
      }
      expect(await offenceOf(rows)).toBeUndefined()
      for (const [at, { name, lines }] of rows!.entries()) {
        const other = { name, lines: [...lines.slice(1), '[]'] }
        expect(await offenceOf(rows!.with(at, other))).toMatch(/ is not as the save \d left it$/)
        expect(await offenceOf(rows!.toSpliced(at, 1))).toMatch(/ is gone$/)
        expect(await offenceOf([...rows!, { name: `${name}x`, lines }])).toMatch(/^No save wrote/)
      }
    })

    test('a vote that an edit voids in the millisecond in which the same person votes again is no other row', async () => {
      await store.start(aStart('a'), NO_LIMITS)
      const vote = () => ({ approver: 'operator:ana', approved: true, at: NOW })
      for (const votes of [[vote()], [], [vote()]]) {
        const session = await read('a')
        await store.save({ ...anUpdate(session, { busy: false }), tasks: [aTask(session, 'a', { votes })] })
      }
      const { rows } = (await store.sessionRows(sessionId('a')))!
      expect(rows!.filter(({ name }) => name.startsWith('vote '))).toHaveLength(2)
      expect(await verify('a')).toBeUndefined()
    })

    test('an effect key stays as its call took it, whatever becomes of it', async () => {
      await store.start(aStart('a'), NO_LIMITS)
      const one = await read('a')
      const take = {
        id: 'claim a',
        key: 'refund:"ä" \0 \ud800',
        shown: 'refund:"ä" \0 \ud800',
        sessionId: one.id,
        runId: one.rootRunId,
        callId: 'c1',
        tool: 'pay.transfer',
        toolVersion: '1.0.0',
        agent: 'pay.clerk',
        agentVersion: '1.0.0',
        argumentsDigest: digestOf('{}'),
        at: NOW,
        notAfter: NOW + 1000,
        expiresAt: NOW + 5000,
        approvedBy: ['operator:ana "ä"', 'operator:ben'],
        replaces: null,
      }
      const { runId, callId } = take
      const changes: readonly EffectChange[] = [
        { take },
        { extend: { id: take.id, notAfter: NOW + 2000 } },
        { end: { runId, callId, state: 'done', result: 'paid' } },
      ]
      for (const change of changes) {
        await store.save({ ...anUpdate(await read('a'), { busy: false }), effects: [change] })
        expect(await verify('a')).toBeUndefined()
      }
      await store.releaseEffect(WORKSPACE, take.key, 'operator:ana', 'odd', NOW + 9000)
      expect(await verify('a')).toBeUndefined()
      const { rows } = (await store.sessionRows(one.id))!
      const verifier = createRowVerifier(one.id)
      for (const link of await links('a')) verifier.add(link)
      const [effect, ...others] = rows!.toReversed()
      expect(effect!.name).toBe('effect claim a')
      expect(verifier.check(others)?.what).toContain('The row "effect claim a", which the save 2 wrote, is gone')
      expect(verifier.check([...rows!, { ...effect!, name: 'effect of an earlier version' }])).toBeUndefined()
      expect(verifier.uncovered).toBe(1)
    })

    test('sessions come oldest first, by agent, person and time', async () => {
      await store.start(aStart('a', { startedAt: NOW + 2 }), NO_LIMITS)
      await store.start(aStart('b', { startedAt: NOW + 1, person: 'ana' }), NO_LIMITS)
      const list = async (filter: object, limit = 9) =>
        (await store.chainedSessions({ workspaceId: WORKSPACE, ...filter }, limit)).map(({ session }) => session)
      const [a, b] = [sessionId('a'), sessionId('b')]
      expect(await list({})).toEqual([b, a])
      expect(await list({}, 1)).toEqual([b])
      expect(await list({ after: { startedAt: NOW + 1, session: b } })).toEqual([a])
      expect(await list({ by: 'operator:ana' })).toEqual([b])
      expect(await list({ by: 'key:key:1' })).toEqual([a])
      expect(await list({ from: NOW + 2 })).toEqual([a])
      expect(await list({ to: NOW + 2 })).toEqual([b])
      expect(await list({ agentId: 'other' })).toEqual([])
    })

    test('links go with their sessions', async () => {
      await runToEnd('a')
      expect(await store.deleteEndedSessions(NOW + 100, 10)).toMatchObject({ deleted: 1 })
      expect(await links('a')).toEqual([])
    })
  })
}
