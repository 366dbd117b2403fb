/** Marks of every store: they come with the save that they tell of, and each session is taken by one process at a time. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import type { Store } from '../../src/store/store.ts'
import type { TraceMark } from '../../src/store/trace-store.ts'
import { aStart, anUpdate, NO_LIMITS, NOW, sessionId, WORKSPACE } from './makers.ts'

const MINUTE = 60_000

export function traceContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`marks of traces, ${name}`, () => {
    let now = NOW
    let store: Store
    beforeEach(async () => {
      now = NOW + MINUTE
      store = await open({ now: () => now, monotonic: () => now })
    })
    afterEach(() => store.close())

    /** The moments of the makers' events are not the matter here. */
    const claim = async (limit = 10) =>
      (await store.claimTraces({ workspaceId: WORKSPACE, now, until: now + MINUTE, limit })).map(
        ({ since: _since, ...mark }) => mark,
      )
    const begin = async (id: string, isTraced = true) => {
      const update = aStart(id)
      expect((await store.start({ ...update, ...(isTraced && { isTraced }) }, NO_LIMITS)).outcome).toBe('started')
      return update.session
    }
    const mark = (id: string, sent: number, ready: number): Omit<TraceMark, 'since'> => ({
      sessionId: sessionId(id),
      sent,
      ready,
    })

    test('only a save that says so marks its session, up to its last event', async () => {
      const { lastSeq } = await begin('a')
      await begin('b', false)
      expect(await claim()).toEqual([mark('a', 0, lastSeq)])
    })

    test('a session is taken by one process until its time is over', async () => {
      const { lastSeq } = await begin('a')
      expect(await claim()).toHaveLength(1)
      expect(await claim()).toEqual([])
      now += MINUTE
      expect(await claim()).toEqual([mark('a', 0, lastSeq)])
    })

    test('what was exported is not due again, and what came meanwhile is', async () => {
      const session = await begin('a')
      const { lastSeq } = session
      await claim()
      const stored = (await store.session(session.id))!
      const update = anUpdate(stored, { subjects: ['engine.run.paused'] })
      await store.save({ ...update, isTraced: true })
      // The process that exports has not ended.
      expect(await claim()).toEqual([])
      await store.endTraces([{ sessionId: session.id, sent: 0, upTo: lastSeq }], now)
      const { lastSeq: ready } = update.session
      expect(await claim()).toEqual([mark('a', lastSeq, ready)])
      await store.endTraces([{ sessionId: session.id, sent: lastSeq, upTo: ready }], now)
      now += 10 * MINUTE
      expect(await claim()).toEqual([])
    })

    test('a slow process does not move a mark that another one has moved', async () => {
      const { id, lastSeq } = await begin('a')
      await claim()
      now += MINUTE
      await claim()
      await store.endTraces([{ sessionId: id, sent: 0, upTo: lastSeq }], now)
      await store.endTraces([{ sessionId: id, sent: 0, upTo: 1 }], now)
      now += 10 * MINUTE
      expect(await claim()).toEqual([])
    })

    test('a refused save marks nothing', async () => {
      const session = await begin('a')
      await claim()
      await store.endTraces([{ sessionId: session.id, sent: 0, upTo: session.lastSeq }], now)
      const stale = anUpdate({ ...session, version: 7 })
      await expect(store.save({ ...stale, isTraced: true })).rejects.toMatchObject({ code: 'run_moved_on' })
      expect(await claim()).toEqual([])
    })

    test('marks go with their sessions', async () => {
      await begin('a')
      await store.deleteAllRuns()
      expect(await claim()).toEqual([])
    })
  })
}
