/** The outbox of every store: its rows come with the change that they tell of, and each is taken by one process at a time. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import type { Clock } from '../../src/base/clock.ts'
import { compareText } from '../../src/base/values/compare-text.ts'
import { nameBasedId, workspaceIdOf } from '../../src/base/ids.ts'
import type { NewNotice } from '../../src/spec/notice.ts'
import type { Store } from '../../src/store/store.ts'
import {
  NOW,
  NO_LIMITS,
  WORKSPACE,
  aPublication,
  aSnapshot,
  aStart,
  anUpdate,
  runId,
  sessionId,
  taskId,
} from './makers.ts'

const MINUTE = 60_000
const ALL = { skip: 0, take: 100 }

const aNotice = (name: string, about: Partial<NewNotice> = {}): NewNotice => ({
  id: nameBasedId('notice', WORKSPACE, about.channel ?? 'hook', name),
  workspaceId: WORKSPACE,
  channel: 'hook',
  event: 'task.created',
  at: NOW,
  dueAt: NOW,
  data: { name, amount: 12, nested: { text: 'a "b"\n' } },
  sessionId: sessionId(name),
  runId: runId(name),
  taskId: taskId(name),
  whilePending: false,
  ...about,
})

export function noticeContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`the outbox, ${name}`, () => {
    let now = NOW
    let store: Store
    beforeEach(async () => {
      now = NOW
      store = await open({ now: () => now, monotonic: () => now })
    })
    afterEach(() => store.close())

    const claim = (limit = 10, channel = 'hook') =>
      store.claimNotices({ workspaceId: WORKSPACE, channel, now, until: now + MINUTE, limit })
    const namesOf = (items: readonly NewNotice[]) => items.map(({ data }) => data['name'] as string)

    test('reads a notice as it was added', async () => {
      const notice = aNotice('a', { whilePending: true, taskId: null })
      await store.addNotices([notice])
      expect(await store.notices({ workspaceId: WORKSPACE }, ALL)).toEqual({
        items: [{ ...notice, state: 'waiting', attempts: 0, claims: 0, endedAt: null, error: null, receipt: null }],
        total: 1,
      })
    })

    test('is written by a start, a save and a deployment, and by none of them when it is refused', async () => {
      const start = aStart('a', {}, { notices: [aNotice('start')] })
      expect(await store.start(start, NO_LIMITS)).toEqual({ outcome: 'started' })
      const refused = aStart('b', {}, { notices: [aNotice('refused start')] })
      expect((await store.start(refused, { ...NO_LIMITS, ratePerMinute: 0 })).outcome).toBe('rate_limited')
      const session = (await store.session(start.session.id))!
      await Promise.all([
        store.save(anUpdate(session, { notices: [aNotice('save')] })),
        expect(store.save(anUpdate(session, { notices: [aNotice('refused save')] }))).rejects.toThrow(
          expect.objectContaining({ code: 'run_moved_on' }) as Error,
        ),
      ])
      const publication = aPublication([aSnapshot('pay.clerk', '1.0.0')])
      await store.publish(publication)
      const { agentId, id } = publication.agents[0]!
      await store.deploy(agentId, id, NOW, 'ana', undefined, { notices: [aNotice('deployment')] })
      await store.deploy(agentId, id, NOW, 'ana', undefined, { notices: [aNotice('deployed already')] })
      expect(namesOf((await store.notices({ workspaceId: WORKSPACE }, ALL)).items).sort(compareText)).toEqual([
        'deployment',
        'save',
        'start',
      ])
    })

    test('tells a channel once of a thing, whatever is added again, and other channels, too', async () => {
      await store.addNotices([aNotice('a'), aNotice('a', { channel: 'mail' })])
      const [taken] = await claim()
      await store.endNotice(
        { id: taken!.id, claims: 1, state: 'delivered', dueAt: now, error: null, isCounted: true },
        now,
      )
      await store.addNotices([aNotice('a', { data: { name: 'again' } })])
      expect(await claim()).toEqual([])
      expect(namesOf(await claim(10, 'mail'))).toEqual(['a'])
    })

    test('keeps what a channel knows of its messages, until another outcome says more', async () => {
      await store.addNotices([aNotice('a')])
      const outcome = { id: aNotice('a').id, claims: 1, dueAt: NOW, error: null, isCounted: true } as const
      await claim()
      await store.endNotice({ ...outcome, state: 'waiting', receipt: { messages: [{ ts: '1.2', to: 'a "b"' }] } }, now)
      const [again] = await claim()
      expect(again!.receipt).toEqual({ messages: [{ ts: '1.2', to: 'a "b"' }] })
      await store.endNotice({ ...outcome, claims: 2, state: 'delivered' }, now)
      const [kept] = await store.noticesOfTask(taskId('a'))
      expect([kept!.state, kept!.receipt]).toEqual(['delivered', { messages: [{ ts: '1.2', to: 'a "b"' }] }])
    })

    test('gives what is due, the oldest first, to one process, until its time is over', async () => {
      await store.addNotices([
        aNotice('third', { dueAt: NOW + 2 }),
        aNotice('first', { dueAt: NOW }),
        aNotice('second', { dueAt: NOW + 1 }),
        aNotice('elsewhere', { workspaceId: workspaceIdOf('elsewhere') }),
      ])
      now = NOW + 1
      expect(new Set(namesOf(await claim()))).toEqual(new Set(['first', 'second']))
      expect(await claim()).toEqual([])
      now += MINUTE
      expect(new Set(namesOf(await claim()))).toEqual(new Set(['first', 'second', 'third']))
    })

    test('counts a delivery of a slow process, and no failure once another one has the notice', async () => {
      await store.addNotices([aNotice('a'), aNotice('b', { dueAt: NOW + 1 })])
      const slow = { state: 'waiting', dueAt: NOW + 9 * MINUTE, error: 'slow', isCounted: true } as const
      now = NOW + 1
      const taken = await claim()
      now += MINUTE
      const again = await claim()
      expect(again.map(({ claims }) => claims)).toEqual([2, 2])
      const [a, b] = ['a', 'b'].map((name) => taken.find(({ data }) => data['name'] === name)!)
      await store.endNotice({ ...slow, id: a!.id, claims: 1 }, now)
      await store.endNotice({ id: b!.id, claims: 1, state: 'delivered', dueAt: now, error: null, isCounted: true }, now)
      const { items } = await store.notices({ workspaceId: WORKSPACE }, ALL)
      expect(
        new Set(items.map(({ data, state, attempts, endedAt }) => [data['name'], state, attempts, endedAt])),
      ).toEqual(
        new Set([
          ['a', 'waiting', 0, null],
          ['b', 'delivered', 1, now],
        ]),
      )
    })

    test('tries an ended notice again with all its tries, and lists and deletes those that ended', async () => {
      await store.addNotices(['a', 'b', 'c'].map((each) => aNotice(each)))
      for (const { id, data } of await claim())
        if (data['name'] !== 'c')
          await store.endNotice({ id, claims: 1, state: 'dead', dueAt: now, error: 'no', isCounted: true }, now)
      expect((await store.notices({ workspaceId: WORKSPACE, state: 'dead' }, ALL)).total).toBe(2)
      const { id } = aNotice('a')
      expect(await store.retryNotice(workspaceIdOf('elsewhere'), id, now)).toBe(false)
      expect(await store.retryNotice(WORKSPACE, id, now)).toBe(true)
      expect(await store.retryNotice(WORKSPACE, id, now)).toBe(false)
      expect((await claim()).map(({ data, attempts }) => [data['name'], attempts])).toEqual([['a', 0]])
      expect(await store.deleteNotices(now, 10)).toBe(0)
      expect(await store.deleteNotices(now + 1, 10)).toBe(1)
      expect(namesOf((await store.notices({ workspaceId: WORKSPACE }, ALL)).items).sort(compareText)).toEqual([
        'a',
        'c',
      ])
    })

    test('lists who was told of a task', async () => {
      await store.addNotices([aNotice('a', { channel: 'mail', at: NOW + 1 }), aNotice('a'), aNotice('b')])
      expect((await store.noticesOfTask(taskId('a'))).map(({ channel }) => channel)).toEqual(['hook', 'mail'])
    })

    test('gives each of many notices once, to whichever of several processes ask at the same time', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 40 }),
          fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 12 }),
          async (count, limits) => {
            const channel = `c${now}`
            now += 1
            await store.addNotices(
              Array.from({ length: count }, (_, at) => aNotice(`${channel} ${at}`, { channel, dueAt: NOW })),
            )
            const taken = (await Promise.all(limits.map((limit) => claim(limit, channel)))).flat()
            const wanted = limits.reduce((sum, limit) => sum + limit, 0)
            expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length)
            expect(taken.length).toBeLessThanOrEqual(Math.min(wanted, count))
            expect(taken.length).toBeGreaterThan(0)
          },
        ),
        { numRuns: 15 },
      )
    })
  })
}
