/** The server processes of a store. Part of the contract of every store. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { FORGET_WORKER_MS, type WorkerReport } from '../../src/store/worker.ts'
import { NOW, NO_LIMITS, aStart } from './makers.ts'

const ann: WorkerReport = {
  id: 'host:1:ann',
  version: '1.2.3',
  startedAt: NOW,
  url: 'http://127.0.0.1:4310',
  peerUrl: null,
  isDraining: false,
  ports: [4310, 4311],
  addresses: ['10.0.0.1'],
}
const bob: WorkerReport = { ...ann, id: 'host:2:bob', startedAt: NOW + 1, ports: [4320, 4311], addresses: [] }

/** @param parts the store of the test that runs, and its clock */
export function workerContract(parts: { readonly store: () => Store; readonly setNow: (now: number) => void }): void {
  describe('server processes', () => {
    let store: Store
    beforeEach(() => (store = parts.store()))

    test('are listed as they last reported, oldest start first, with the sessions that they drive', async () => {
      await store.report(bob)
      await store.report(ann)
      parts.setNow(NOW + 9)
      await store.start(aStart('a'), NO_LIMITS, undefined, { worker: ann.id, ttlMs: 15_000 })
      await store.report({ ...ann, isDraining: true, peerUrl: 'http://10.0.0.1:4313' })
      expect(await store.workers()).toEqual([
        { ...ann, isDraining: true, peerUrl: 'http://10.0.0.1:4313', isAsked: false, seenAt: NOW + 9, leases: 1 },
        { ...bob, isAsked: false, seenAt: NOW, leases: 0 },
      ])
    })

    test('one that is asked to drain is told so with its next reports, and the others are not', async () => {
      await store.report(ann)
      await store.report(bob)
      await store.askToDrain(ann.id)
      expect(await store.report(ann)).toMatchObject({ isAsked: true })
      expect(await store.report(ann)).toMatchObject({ isAsked: true })
      expect(await store.report(bob)).toMatchObject({ isAsked: false })
      await expect(store.askToDrain('nobody')).rejects.toMatchObject({ code: 'not_found' })
    })

    test('the oldest that serves is the first, until it drains, is silent for 15 s, or ends', async () => {
      const areFirst = async (...all: (typeof ann)[]) => {
        const news = []
        for (const each of all) news.push((await store.report(each)).isFirst)
        return news
      }
      const cyd = { ...bob, id: 'host:3:cyd' }
      expect(await areFirst(cyd, bob, ann)).toEqual([true, true, true])
      expect(await areFirst(cyd, bob, ann)).toEqual([false, false, true])
      expect(await areFirst({ ...ann, isDraining: true }, bob, cyd)).toEqual([false, true, false])
      expect(await areFirst(ann, bob)).toEqual([true, false])
      parts.setNow(NOW + 14_999)
      expect(await areFirst(bob, cyd)).toEqual([false, false])
      parts.setNow(NOW + 15_000)
      expect(await areFirst(bob, cyd, ann, bob)).toEqual([true, false, true, false])
      await store.forgetWorker(ann.id)
      expect(await areFirst(bob, cyd)).toEqual([true, false])
    })

    test('each learns with its report where the others listen, as they last said', async () => {
      const nowhere = { ports: [], addresses: [] }
      expect(await store.report(ann)).toEqual({ isAsked: false, isFirst: true, others: nowhere })
      expect(await store.report(bob)).toEqual({
        isAsked: false,
        isFirst: false,
        others: { ports: [4310, 4311], addresses: ['10.0.0.1'] },
      })
      await store.report({ ...ann, id: 'host:3:cyd', ports: [4309], addresses: ['fd00::1', '10.0.0.1'] })
      expect((await store.report(bob)).others).toEqual({
        ports: [4309, 4310, 4311],
        addresses: ['10.0.0.1', 'fd00::1'],
      })
      await store.forgetWorker('host:3:cyd')
      expect((await store.report(ann)).others).toEqual({ ports: [4311, 4320], addresses: [] })
    })

    test('one that ended is gone; one that was killed goes later, but not while it holds leases', async () => {
      await store.report(ann)
      await store.report(bob)
      await store.forgetWorker(bob.id)
      expect((await store.workers()).map(({ id }) => id)).toEqual([ann.id])
      await store.start(aStart('a'), NO_LIMITS, undefined, { worker: ann.id, ttlMs: 15_000 })
      parts.setNow(NOW + FORGET_WORKER_MS)
      await store.forgetWorker(bob.id)
      expect((await store.workers()).map(({ id }) => id)).toEqual([ann.id])
      const [lease] = await store.renew(ann.id, 1)
      await store.release(ann.id, [lease!])
      expect(await store.workers()).toEqual([])
    })
  })
}
