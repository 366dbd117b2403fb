/** What every store promises that was restored from a backup. Source: docs/design/runs-and-recovery.md#restoring */
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { nameBasedId, type TriggerId } from '../../src/base/ids.ts'
import type { Trigger } from '../../src/spec/people/key.ts'
import type { Session } from '../../src/spec/run/session.ts'
import type { Store } from '../../src/store/store.ts'
import { NOW, NO_LIMITS, WORKSPACE, aStart, aTrigger, anUpdate, runId, sessionId } from './makers.ts'

/** When the store was restored, and when the backup was taken. */
export const RESTORED_AT = NOW + 60_000
export const BACKED_UP_AT = NOW + 1000

/**
 * @param open an empty store
 * @param hold restores it as it is, and opens it again
 */
export function restoredContract(
  name: string,
  open: (clock: Clock) => Promise<Store>,
  hold: (store: Store, clock: Clock) => Promise<Store>,
): void {
  describe(`a restored store, ${name}`, () => {
    const trigger = (named: string, createdAt = NOW): Trigger =>
      aTrigger({ id: nameBasedId('trigger', named), name: named, createdAt })
    const [old, other] = [trigger('old'), trigger('other')]
    const start = async (store: Store, session: string, triggerId: TriggerId | null) => {
      const about = { triggerId, startedAt: RESTORED_AT + 5 }
      const holder = { worker: 'ann', ttlMs: 15_000 }
      expect(await store.start(aStart(session, about), NO_LIMITS, undefined, holder)).toEqual({ outcome: 'started' })
    }

    /** One session that works and one that has ended, both of one trigger; another trigger has none. */
    async function restored() {
      let now = NOW
      const clock: Clock = { now: () => now, monotonic: () => now }
      const store = await open(clock)
      await store.createTrigger(old)
      await store.createTrigger(other)
      await store.start(aStart('open', { triggerId: old.id }), NO_LIMITS)
      await store.start(aStart('ended', { triggerId: old.id }), NO_LIMITS)
      const ended = (await store.session(sessionId('ended')))!
      await store.save(anUpdate({ ...ended, status: 'Completed', finishedAt: NOW } as Session, { busy: false }))
      now = RESTORED_AT + 10
      return hold(store, clock)
    }
    const heldAt = (store: Store, ...names: string[]) =>
      Promise.all(names.map((each) => store.restoredAt(sessionId(each))))

    test('holds what it had, ended sessions too, and whatever begins while it is held', async () => {
      const store = await restored()
      const restore = { at: RESTORED_AT, backedUpAt: BACKED_UP_AT, releasedAt: null, asksUntil: null }
      expect(await store.lastRestore()).toEqual(restore)
      expect(await heldAt(store, 'open', 'ended')).toEqual([RESTORED_AT, RESTORED_AT])
      await start(store, 'by operator', null)
      const fresh = trigger('fresh', RESTORED_AT + 1)
      await store.createTrigger(fresh)
      await start(store, 'by a new trigger', fresh.id)
      expect(await heldAt(store, 'by operator', 'by a new trigger')).toEqual([RESTORED_AT + 5, RESTORED_AT + 5])
      expect(await store.claim('ann', 9, 15_000)).toEqual([])
      expect(await store.waitingSessions(9)).toEqual([])
      expect((await store.load(sessionId('by operator')))!.heldBy).toBeUndefined()
      expect(await store.restored(WORKSPACE)).toEqual({
        sessions: ['open', 'by operator', 'by a new trigger'].map(sessionId),
        triggers: [old.id, other.id],
      })
      await store.close()
    })

    test('releases a trigger with its ended sessions and those that it starts, and nothing else', async () => {
      const store = await restored()
      await store.releaseRestored([], [old.id])
      expect(await heldAt(store, 'open', 'ended')).toEqual([RESTORED_AT, undefined])
      await start(store, 'released', old.id)
      await start(store, 'held', other.id)
      await start(store, 'by operator', null)
      expect(await heldAt(store, 'released', 'held', 'by operator')).toEqual([
        undefined,
        RESTORED_AT + 5,
        RESTORED_AT + 5,
      ])
      expect((await store.lastRestore())!.releasedAt).toBeNull()
      await store.close()
    })

    test('releases everything at once, and holds nothing that begins after it', async () => {
      const store = await restored()
      await start(store, 'before', null)
      await store.releaseRestored([], [], { at: RESTORED_AT + 10, asksUntil: RESTORED_AT + 99 })
      await start(store, 'after', null)
      expect(await heldAt(store, 'open', 'ended', 'before', 'after')).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ])
      expect(await store.restored(WORKSPACE)).toEqual({ sessions: [], triggers: [] })
      expect((await store.claim('bob', 9, 15_000)).map((lease) => lease.sessionId).sort()).toEqual(
        ['open', 'before'].map(sessionId).sort(),
      )
      // A second release changes how long calls ask, not when the first one was.
      await store.releaseRestored([], [], { at: RESTORED_AT + 20, asksUntil: RESTORED_AT + 20 })
      expect(await store.lastRestore()).toMatchObject({ releasedAt: RESTORED_AT + 10, asksUntil: RESTORED_AT + 20 })
      await store.close()
    })

    test('takes keys for effects that happened outside, where no call holds them', async () => {
      const store = await restored()
      const key = (text: string) => ({ id: `${text} ${Math.random()}`, key: text, shown: text })
      const known = { at: RESTORED_AT, by: 'operator:ana', sessionId: sessionId('x'), runId: runId('x') }
      expect(await store.recordKnownEffects(WORKSPACE, { ...known, keys: [key('a'), key('b'), key('a')] })).toBe(2)
      expect(await store.recordKnownEffects(WORKSPACE, { ...known, keys: [key('b'), key('c')] })).toBe(1)
      const held = await store.effects({ workspaceId: WORKSPACE, holds: true }, { skip: 0, take: 10 })
      expect(held.map((effect) => effect.key).sort()).toEqual(['a', 'b', 'c'])
      expect(await store.effectsOfKey(WORKSPACE, 'a', RESTORED_AT + 1)).toMatchObject([
        { key: 'a', state: 'done', agent: 'outside', approvedBy: ['operator:ana'], expiresAt: null },
      ])
      await store.close()
    })
  })
}
