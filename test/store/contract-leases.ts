/** The leases of sessions: who may perform their effects, and until when. Part of the contract of every store. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { SessionId, TriggerId } from '../../src/base/ids.ts'
import type { Session } from '../../src/spec/run/session.ts'
import { FIRST_EPOCH, type LeaseHolder } from '../../src/store/lease.ts'
import type { Store } from '../../src/store/store.ts'
import { NOW, NO_LIMITS, aStart, anUpdate, runId, sessionId } from './makers.ts'

const TTL = 15_000
const holder = (worker: string, epoch?: number): LeaseHolder => ({
  worker,
  ttlMs: TTL,
  ...(epoch !== undefined && { epoch }),
})

/** @param parts the store of the test that runs, and its clock */
export function leaseContract(parts: { readonly store: () => Store; readonly setNow: (now: number) => void }): void {
  describe('leases', () => {
    let store: Store
    beforeEach(() => (store = parts.store()))

    const start = async (name: string, worker?: string, about: Partial<Session> = {}): Promise<Session> => {
      const update = aStart(name, about)
      expect(
        await store.start(update, NO_LIMITS, undefined, worker === undefined ? undefined : holder(worker)),
      ).toEqual({
        outcome: 'started',
      })
      return (await store.session(update.session.id))!
    }
    const later = (session: Session, saves = 1): Session => ({ ...session, version: session.version + saves })
    const heldBy = async (id: SessionId): Promise<string | undefined> => (await store.load(id))!.heldBy

    test('a start gives the lease to the process that starts, and none to one that performs no effects', async () => {
      await start('a', 'ann')
      await start('b')
      expect(await heldBy(sessionId('a'))).toBe('ann')
      expect(await heldBy(sessionId('b'))).toBeUndefined()
      const update = aStart('c', {}, { busy: false })
      await store.start(update, NO_LIMITS, undefined, holder('ann'))
      expect(await heldBy(sessionId('c'))).toBeUndefined()
      expect(await store.renew('ann', TTL)).toEqual([{ sessionId: sessionId('a'), epoch: FIRST_EPOCH, version: 1 }])
    })

    test('a claim takes sessions with work in flight that nobody holds, the oldest of a trigger first, as many as asked for', async () => {
      await start('late', undefined, { startedAt: NOW + 5 })
      const idle = await start('idle')
      await start('held', 'bob')
      await start('early', undefined, { startedAt: NOW + 1 })
      await store.save(anUpdate(idle, { busy: false }))
      expect(await store.claim('ann', 1, TTL)).toEqual([{ sessionId: sessionId('early'), epoch: 1 }])
      expect(await store.claim('ann', 9, TTL)).toEqual([{ sessionId: sessionId('late'), epoch: 1 }])
      expect(await store.claim('ann', 9, TTL)).toEqual([])
    })

    test('a claim takes sessions of each trigger in turn, however many one has, and ends leases that are over', async () => {
      for (let n = 0; n < 9; n++) await start(`flood${n}`, n < 5 ? 'gone' : undefined, { startedAt: NOW + n })
      const other = { triggerId: 'trigger-b' as TriggerId, startedAt: NOW + 20 }
      await start('one', undefined, other)
      await start('two', 'gone', { ...other, startedAt: NOW + 21 })
      // Those of an agent that operators started.
      await start('by-hand', undefined, { triggerId: null, startedAt: NOW + 22 })
      parts.setNow(NOW + TTL)
      const take = async (most: number) => (await store.claim('ann', most, TTL)).map(({ sessionId: id }) => id)
      const named = (...names: string[]) => names.map((name) => sessionId(name))
      expect(await take(6)).toEqual(named('flood0', 'one', 'by-hand', 'flood1', 'two'))
      // One at a time, none is passed over.
      await start('three', undefined, other)
      const singly = [...(await take(1)), ...(await take(1)), ...(await take(1))]
      expect(singly.sort()).toEqual(named('flood2', 'flood3', 'three').sort())
      expect(await take(99)).toEqual(named('flood4', 'flood5', 'flood6', 'flood7', 'flood8'))
      expect(await take(99)).toEqual([])
      // What it took has a new holder, whoever had it before.
      expect(await store.renew('gone', TTL)).toEqual([])
    })

    test('where more triggers have sessions than one claim takes, the next claims go on with the others', async () => {
      for (let n = 0; n < 7; n++)
        for (const name of ['x', 'y']) await start(`${name}${n}`, undefined, { triggerId: `trigger-${n}` as TriggerId })
      const rounds: string[] = []
      for (let turn = 0; turn < 7; turn++) {
        const claimed = await store.claim('ann', 2, TTL)
        for (const { sessionId: id } of claimed) rounds.push((await store.session(id))!.triggerId!)
      }
      const triggers = Array.from({ length: 7 }, (_, n) => `trigger-${n}`)
      expect(rounds.slice(0, 7).sort()).toEqual(triggers)
      expect(rounds.slice(7).sort()).toEqual(triggers)
    })

    test('what a claim would find is told, and how long its lease has been over, without being taken', async () => {
      await start('idle', undefined, { startedAt: NOW + 1 })
      await start('held', 'ann', { startedAt: NOW + 2 })
      expect(await store.waitingSessions(9)).toEqual([{ sessionId: sessionId('idle'), overForMs: 0 }])
      parts.setNow(NOW + TTL + 40)
      const waiting = [
        { sessionId: sessionId('idle'), overForMs: 0 },
        { sessionId: sessionId('held'), overForMs: 40 },
      ]
      expect(await store.waitingSessions(9)).toEqual(waiting)
      expect(await store.waitingSessions(1)).toHaveLength(1)
      expect(await store.claim('bob', 9, TTL)).toHaveLength(2)
      expect(await store.waitingSessions(9)).toEqual([])
    })

    test('of many claimers, no two get the same session, and together they get all', async () => {
      for (let n = 0; n < 40; n++) await start(`s${n}`)
      const claimed = await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          n % 2 === 0
            ? store.claim(`w${n}`, 3, TTL)
            : store.claimOne(`w${n}`, sessionId(`s${n % 40}`), TTL).then((lease) => (lease ? [lease] : [])),
        ),
      )
      const ids = claimed.flat().map((lease) => lease.sessionId)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids.length).toBe(40)
    })

    test('a lease that has expired is taken over with a higher epoch; before that it is not', async () => {
      const session = await start('a', 'ann')
      parts.setNow(NOW + TTL - 1)
      expect(await store.claim('bob', 9, TTL)).toEqual([])
      expect(await store.claimOne('bob', session.id, TTL)).toBeUndefined()
      parts.setNow(NOW + TTL)
      expect(await heldBy(session.id)).toBeUndefined()
      expect(await store.claim('bob', 9, TTL)).toEqual([{ sessionId: session.id, epoch: FIRST_EPOCH + 1 }])
      expect(await heldBy(session.id)).toBe('bob')
    })

    test('a renewal prolongs every lease of the worker and names what it holds; what was taken over is missing', async () => {
      const a = await start('a', 'ann')
      await start('b', 'ann')
      await start('c', 'bob')
      await store.save(anUpdate(a), holder('ann', FIRST_EPOCH))
      parts.setNow(NOW + TTL - 1)
      const renewed = await store.renew('ann', TTL)
      expect([...renewed].sort((one, other) => other.version - one.version)).toEqual([
        { sessionId: a.id, epoch: FIRST_EPOCH, version: 2 },
        { sessionId: sessionId('b'), epoch: FIRST_EPOCH, version: 1 },
      ])
      parts.setNow(NOW + 2 * TTL - 2)
      expect((await store.claim('eve', 9, TTL)).map((lease) => lease.sessionId)).toEqual([sessionId('c')])
      parts.setNow(NOW + 2 * TTL)
      expect(await store.claim('eve', 1, TTL)).toHaveLength(1)
      expect(await store.renew('ann', TTL)).toHaveLength(1)
      expect(await store.renew('bob', TTL)).toEqual([])
    })

    test('a lease that is given back can be taken at once', async () => {
      const session = await start('a', 'ann')
      await store.release('bob', [{ sessionId: session.id, epoch: FIRST_EPOCH }])
      await store.release('ann', [{ sessionId: session.id, epoch: FIRST_EPOCH + 1 }])
      expect(await heldBy(session.id)).toBe('ann')
      await store.release('ann', [{ sessionId: session.id, epoch: FIRST_EPOCH }])
      expect(await store.claimOne('bob', session.id, TTL)).toEqual({ sessionId: session.id, epoch: FIRST_EPOCH + 1 })
    })

    test('one that waits for a person, has ended, or is held by a restore cannot be claimed', async () => {
      const session = await start('a', 'ann')
      await store.save(anUpdate(session, { busy: false }), holder('ann', FIRST_EPOCH))
      expect(await store.claimOne('bob', session.id, TTL)).toBeUndefined()
      expect(await store.claimOne('bob', sessionId('none'), TTL)).toBeUndefined()
    })

    test('a worker takes a session again that it holds, as after a lost reply', async () => {
      const session = await start('a', 'ann')
      expect(await store.claimOne('ann', session.id, TTL)).toEqual({ sessionId: session.id, epoch: FIRST_EPOCH + 1 })
    })

    test('the holder saves while its lease lasts, and keeps it while the session has work in flight', async () => {
      const session = await start('a', 'ann')
      expect(await store.save(anUpdate(session), holder('ann', FIRST_EPOCH))).toEqual({
        sessionId: session.id,
        epoch: FIRST_EPOCH,
      })
      expect(await store.save(anUpdate(later(session), { busy: false }), holder('ann', FIRST_EPOCH))).toBeUndefined()
      expect(await heldBy(session.id)).toBeUndefined()
      expect(await store.renew('ann', TTL)).toEqual([])
    })

    test('refuses the save of a holder whose lease has expired, was taken over or has another epoch, and stores nothing', async () => {
      const session = await start('a', 'ann')
      const lost = { code: 'lease_lost' }
      await expect(store.save(anUpdate(session), holder('ann', FIRST_EPOCH + 1))).rejects.toMatchObject(lost)
      await expect(store.save(anUpdate(session), holder('bob', FIRST_EPOCH))).rejects.toMatchObject(lost)
      parts.setNow(NOW + TTL)
      await expect(store.save(anUpdate(session), holder('ann', FIRST_EPOCH))).rejects.toMatchObject(lost)
      await store.claimOne('bob', session.id, TTL)
      await expect(store.save(anUpdate(session), holder('ann', FIRST_EPOCH))).rejects.toMatchObject(lost)
      expect((await store.session(session.id))!.version).toBe(1)
    })

    test('a save with the right lease and an old version is refused as moved on', async () => {
      const session = await start('a', 'ann')
      await store.save(anUpdate(session))
      await expect(store.save(anUpdate(session), holder('ann', FIRST_EPOCH))).rejects.toMatchObject({
        code: 'run_moved_on',
      })
    })

    test('anybody saves by the version alone: the holder keeps the lease, and loses it with the work in flight', async () => {
      const session = await start('a', 'ann')
      expect(await store.save(anUpdate(session))).toBeUndefined()
      expect(await heldBy(session.id)).toBe('ann')
      await store.save(anUpdate(later(session), { busy: false }))
      expect(await heldBy(session.id)).toBeUndefined()
      expect(await store.renew('ann', TTL)).toEqual([])
    })

    test('a save takes a session that nobody holds, if it leaves work in flight', async () => {
      const session = await start('a', 'ann')
      await store.save(anUpdate(session, { busy: false }), holder('ann', FIRST_EPOCH))
      expect(await store.save(anUpdate(later(session), { busy: false }), holder('bob'))).toBeUndefined()
      expect(await heldBy(session.id)).toBeUndefined()
      const taken = await store.save(anUpdate(later(session, 2)), holder('bob'))
      expect(taken).toEqual({ sessionId: session.id, epoch: FIRST_EPOCH + 1 })
      await expect(store.save(anUpdate(later(session, 3)), holder('eve'))).rejects.toMatchObject({ code: 'lease_lost' })
      parts.setNow(NOW + TTL)
      expect(await store.save(anUpdate(later(session, 3)), holder('eve'))).toEqual({
        sessionId: session.id,
        epoch: FIRST_EPOCH + 2,
      })
    })

    test('clears a timer that fired, but not one that was set anew meanwhile', async () => {
      const session = await start('a')
      const timer = { sessionId: session.id, runId: runId('a'), kind: 'retry', ref: '', at: NOW } as const
      await store.save(anUpdate(session, { setTimers: [timer] }))
      await store.save(anUpdate(later(session), { setTimers: [{ ...timer, at: NOW + 5 }] }))
      await store.save(anUpdate(later(session, 2), { clearTimers: [{ ...timer, firedAt: NOW }] }))
      expect(await store.nextTimerAt()).toBe(NOW + 5)
      await store.save(anUpdate(later(session, 3), { clearTimers: [{ ...timer, firedAt: NOW + 5 }] }))
      expect(await store.nextTimerAt()).toBeUndefined()
    })
  })
}
