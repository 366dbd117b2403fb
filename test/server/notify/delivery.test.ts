/** At least once, by one process at a time, whatever receivers do and whenever processes die. */
import { expect, test } from 'vitest'
import * as fc from 'fast-check'
import { silentLog } from '../../../src/base/log.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import { nameBasedId } from '../../../src/base/ids.ts'
import type { NewNotice } from '../../../src/spec/notice.ts'
import { MAX_TRIES, pauseAfterTry } from '../../../src/server/notify/backoff.ts'
import type { NoticeChannel, TryOutcome } from '../../../src/server/notify/channel.ts'
import { createNoticeDelivery, type DeliveredChannel } from '../../../src/server/notify/delivery.ts'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { aRun, aSession, aStart, aTask, anUpdate, NOW, NO_LIMITS, WORKSPACE } from '../../store/makers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const aNotice = (name: string, about: Partial<NewNotice> = {}): NewNotice => ({
  id: nameBasedId('notice', about.channel ?? 'hook', name),
  workspaceId: WORKSPACE,
  channel: 'hook',
  event: 'run.failed',
  at: NOW,
  dueAt: NOW,
  data: { name },
  sessionId: null,
  runId: null,
  taskId: null,
  whilePending: false,
  ...about,
})

type Send = (names: readonly string[], signal: AbortSignal, ids: readonly string[]) => Promise<TryOutcome> | TryOutcome

const channel = (
  name: string,
  send: Send,
  about: Partial<DeliveredChannel> = {},
  mostAtOnce = 1,
): DeliveredChannel => ({
  name,
  config: { concurrency: 2 },
  timeoutMs: 10_000,
  channel: {
    mostAtOnce,
    send: async (messages, signal) =>
      await send(
        messages.map(({ notice }) => notice.data['name'] as string),
        signal,
        messages.map(({ notice }) => notice.id),
      ),
  } satisfies NoticeChannel,
  ...about,
})

function house() {
  const state = { now: NOW }
  const clock = { now: () => state.now, monotonic: () => state.now }
  const store = openSqlite(':memory:', { clock })
  const open = (channels: readonly DeliveredChannel[], of: Store = store) =>
    createNoticeDelivery({
      store: of,
      workspaceId: WORKSPACE,
      channels,
      log: silentLog,
      random: () => 0.5,
      redactor: createRedactor(),
      consoleUrl: () => null,
    })
  const states = async () =>
    (await store.notices({ workspaceId: WORKSPACE }, { skip: 0, take: 500 })).items.map(
      ({ data, state: at, attempts, error }) => [data['name'], at, attempts, error],
    )
  return { state, store, open, states }
}

test('eight tries within 24 hours, with growing pauses; a receiver may ask for more, up to an hour', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 10 * HOUR }), (random, asked) => {
      const pauses = Array.from({ length: MAX_TRIES }, (_, attempts) => pauseAfterTry({ attempts }, random))
      expect(pauses.at(-1)).toBeUndefined()
      const known = pauses.slice(0, -1) as number[]
      expect(known.every((pause, at) => at === 0 || pause > known[at - 1]!)).toBe(true)
      expect(known.reduce((sum, pause) => sum + pause, 0)).toBeLessThan(24 * HOUR)
      expect(pauseAfterTry({ attempts: 0 }, random, asked)).toBe(Math.max(known[0]!, Math.min(asked, HOUR)))
    }),
  )
})

test.each<[string, TryOutcome | Error, string, number]>([
  ['delivers', { at: 'delivered' }, 'delivered', 1],
  ['fails', { at: 'failed', why: 'it answered 500' }, 'waiting', 1],
  ['throws', new Error('socket hang up'), 'waiting', 1],
  ['wants no more', { at: 'refused', why: 'it answered 410' }, 'dead', 1],
  ['has nothing to say any more', { at: 'moot' }, 'moot', 0],
  ['has to wait for another notice', { at: 'later', afterMs: 5000 }, 'waiting', 0],
])('a channel that %s', async (_, outcome, state, attempts) => {
  const { store, open, states } = house()
  await store.addNotices([aNotice('a')])
  const send = (): TryOutcome => {
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  await open([channel('hook', send)]).deliverDue()
  const error = outcome instanceof Error ? outcome.message : 'why' in outcome ? outcome.why : null
  expect(await states()).toEqual([['a', state, attempts, error]])
})

test('a notice that fails each time is dead after eight tries, and its first try is again the first after a retry', async () => {
  const { state, store, open, states } = house()
  await store.addNotices([aNotice('a')])
  let tries = 0
  const delivery = open([channel('hook', () => (tries++, { at: 'failed', why: 'no' }))])
  for (let look = 0; look < 60; look++) {
    await delivery.deliverDue()
    state.now += HOUR / 2
  }
  expect([tries, await states()]).toEqual([MAX_TRIES, [['a', 'dead', MAX_TRIES, 'no']]])
  await store.retryNotice(WORKSPACE, aNotice('a').id, state.now)
  await delivery.deliverDue()
  expect(await states()).toEqual([['a', 'waiting', 1, 'no']])
})

test('a channel that hangs holds back no other one, and has no more tries under way than it may', async () => {
  const { store, open, states } = house()
  await store.addNotices(['a', 'b', 'c', 'd'].flatMap((each) => [aNotice(each), aNotice(each, { channel: 'mail' })]))
  let hanging = 0
  let most = 0
  const hang: Send = (_, signal) =>
    new Promise((_resolve, reject) => {
      most = Math.max(most, ++hanging)
      signal.addEventListener('abort', () => {
        hanging--
        reject(new Error('cut off'))
      })
    })
  const told: string[] = []
  let done = (): void => {}
  const all = new Promise<void>((resolve) => (done = resolve))
  const take: Send = ([name]) => {
    told.push(name!)
    if (told.length === 4) done()
    return { at: 'delivered' }
  }
  const delivery = open([channel('hook', hang), channel('mail', take)])
  delivery.wake()
  await all
  await delivery.close()
  expect([told.sort(), most, hanging]).toEqual([['a', 'b', 'c', 'd'], 2, 0])
  // What the end of the process cut off counts as no try, and is due at once.
  const waiting = (await states()).filter(([, at]) => at === 'waiting')
  expect(waiting.map(([, , attempts]) => attempts)).toEqual([0, 0, 0, 0])
  expect(
    await store.claimNotices({ workspaceId: WORKSPACE, channel: 'hook', now: NOW, until: NOW, limit: 9 }),
  ).toHaveLength(4)
})

test('takes no more of a long outbox at once than it sends', async () => {
  const { store, open } = house()
  const count = 3000
  await store.addNotices(Array.from({ length: count }, (_, at) => aNotice(`n${at}`)))
  const limits: number[] = []
  const watched: Store = {
    ...store,
    claimNotices: (claim) => {
      limits.push(claim.limit)
      return store.claimNotices(claim)
    },
  }
  const seen = new Set<string>()
  await open([channel('hook', (_, __, ids) => (seen.add(ids[0]!), { at: 'delivered' }))], watched).deliverDue()
  expect([seen.size, Math.max(...limits)]).toEqual([count, 2])
})

test('many that wait are one digest, for a channel that takes several at once', async () => {
  const { store, open, states } = house()
  await store.addNotices(Array.from({ length: 60 }, (_, at) => aNotice(`n${at}`)))
  const sizes: number[] = []
  const digest: Send = (names) => (sizes.push(names.length), { at: 'delivered' })
  await open([channel('hook', digest, { config: { concurrency: 1 } }, 50)]).deliverDue()
  expect([sizes, (await states()).every(([, at]) => at === 'delivered')]).toEqual([[50, 10], true])
})

test('an announcement of a task that was decided meanwhile is not sent', async () => {
  const { state, store, open, states } = house()
  const session = aSession('a')
  const [open1, decided] = [aTask(session, 'open'), aTask(session, 'decided')]
  await store.start(aStart('a', {}, { tasks: [open1] }), NO_LIMITS)
  const stored = (await store.session(session.id))!
  await store.save(
    anUpdate(stored, {
      runs: [aRun(stored)],
      tasks: [{ ...decided, callId: 'c2', status: 'completed', answer: { outcome: 'approved' } }],
    }),
  )
  await store.addNotices([
    aNotice('open', { taskId: open1.id, whilePending: true, dueAt: NOW + MINUTE }),
    aNotice('decided', { taskId: decided.id, whilePending: true, dueAt: NOW + MINUTE }),
  ])
  const told: string[] = []
  const delivery = open([channel('hook', ([name]) => (told.push(name!), { at: 'delivered' }))])
  await delivery.deliverDue()
  expect(told).toEqual([])
  state.now += MINUTE
  await delivery.deliverDue()
  expect([told, new Set((await states()).map(([name, at]) => [name, at]))]).toEqual([
    ['open'],
    new Set([
      ['decided', 'moot'],
      ['open', 'delivered'],
    ]),
  ])
})

test('200 kills: each notice arrives, and once where the receiver knows its id', async () => {
  const { state, store, open } = house()
  const random = fc.sample(fc.nat({ max: 1_000_000 }), { numRuns: 20_000, seed: 7 })
  let at = 0
  const pick = (most: number): number => random[at++ % random.length]! % most
  const handled = new Map<string, number>()
  const added = new Set<string>()
  const failures = new Map<string, number>()
  /** Slow, down, answering 500, and closing early: after it has handled the notice. */
  const receive: Send = (_, signal, [id]) => {
    const failed = failures.get(id!) ?? 0
    const kind = failed >= MAX_TRIES - 3 ? 0 : pick(5)
    const handle = (): void => void handled.set(id!, (handled.get(id!) ?? 0) + 1)
    if (kind > 0) failures.set(id!, failed + 1)
    switch (kind) {
      case 1:
        return new Promise((_resolve, reject) => {
          if (signal.aborted) reject(new Error('too slow'))
          else signal.addEventListener('abort', () => reject(new Error('too slow')))
        })
      case 2:
        throw new Error('connect ECONNREFUSED')
      case 3:
        return { at: 'failed', why: 'it answered 500' }
      case 4:
        handle()
        throw new Error('socket hang up')
      default:
        handle()
        return { at: 'delivered' }
    }
  }
  let kills = 0
  while (kills < 200) {
    const names = Array.from({ length: pick(3) }, (_, each) => `k${kills}-${each}`)
    await store.addNotices(names.map((name) => aNotice(name, { dueAt: state.now })))
    for (const name of names) added.add(aNotice(name).id)
    // From the last step on, nothing that this process does reaches the store any more.
    let steps = pick(8)
    const mortal = <T>(act: () => Promise<T>): Promise<T> =>
      steps-- > 0 ? act() : Promise.reject(new Error('the process was killed'))
    const dying: Store = {
      ...store,
      claimNotices: (claim) => mortal(() => store.claimNotices(claim)),
      endNotice: (outcome, now) => mortal(() => store.endNotice(outcome, now)),
    }
    await open([channel('hook', receive, { timeoutMs: 1 })], dying).deliverDue()
    kills++
    state.now += pick(2) === 0 ? MINUTE : 3 * HOUR
  }
  for (let rest = 0; rest < 40; rest++) {
    await open([channel('hook', receive, { timeoutMs: 1 })]).deliverDue()
    state.now += 13 * HOUR
  }
  const { items } = await store.notices({ workspaceId: WORKSPACE }, { skip: 0, take: 500 })
  expect(items.filter(({ state: end }) => end !== 'delivered')).toEqual([])
  expect(new Set(handled.keys())).toEqual(added)
  expect(added.size).toBeGreaterThan(100)
  // The test kills where it hurts: some were handled more than once, which the id tells the receiver.
  expect([...handled.values()].some((times) => times > 1)).toBe(true)
})
