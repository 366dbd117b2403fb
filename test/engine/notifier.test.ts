import { expect, onTestFinished, test, vi } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import { createNotifier } from '../../src/engine/drive/notifier.ts'
import type { LiveText, TextDelta, StoredEvent } from '../../src/spec/event.ts'

const session = 'session' as SessionId
const piece = (text: string): TextDelta => ({
  sessionId: session,
  runId: 'run' as RunId,
  ts: 0,
  kind: 'step',
  subject: 'engine.step.delta',
  data: { text },
})
const open = new AbortController().signal
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('wakes a reader at once, and delivers what follows in the same event loop turn together', async () => {
  const notifier = createNotifier()
  const subscription = notifier.subscribe(session)
  const heard: (readonly LiveText[])[] = []
  const reading = (async () => {
    while (heard.flat().length < 3) {
      await subscription.waitBeyond(0, open)
      heard.push(subscription.takeDeltas(1))
    }
  })()
  notifier.publishDelta(piece('one'), 0)
  for (const text of ['two', 'three']) {
    for (let at = 0; at < 10; at++) await Promise.resolve()
    notifier.publishDelta(piece(text), 0)
  }
  expect(heard).toEqual([[piece('one')]])
  await reading
  expect(heard).toEqual([[piece('one')], [piece('two'), piece('three')]])
})

test('delivers the first text at once, and later text together after 50 ms or with the next event', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const notifier = createNotifier()
    const subscription = notifier.subscribe(session)
    const heard: (readonly string[])[] = []
    let seen = 0
    const reading = (async () => {
      while (heard.flat().length < 6) {
        await subscription.waitBeyond(seen, open)
        seen = subscription.count()
        heard.push(subscription.takeDeltas(Infinity).map(({ data }) => data['text'] as string))
      }
    })()
    const publish = async (text: string): Promise<void> => {
      notifier.publishDelta(piece(text), 0)
      await turn()
    }
    await publish('one')
    expect(heard).toEqual([['one']])
    await publish('two')
    vi.advanceTimersByTime(49)
    await publish('three')
    expect(heard).toEqual([['one']])
    vi.advanceTimersByTime(1)
    await turn()
    expect(heard).toEqual([['one'], ['two', 'three']])
    await publish('four')
    notifier.notify(session, 1)
    await turn()
    expect(heard).toEqual([['one'], ['two', 'three'], ['four']])
    await publish('five')
    expect(heard).toEqual([['one'], ['two', 'three'], ['four'], ['five']])
    vi.advanceTimersByTime(50)
    expect(vi.getTimerCount()).toBe(0)
    await publish('six')
    await reading
    expect(heard.at(-1)).toEqual(['six'])
    expect(vi.getTimerCount()).toBe(1)
    subscription.close()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test('delivers the first text of a step in the event loop turn of the event before it, and what follows at its end', async () => {
  const notifier = createNotifier()
  const subscription = notifier.subscribe(session)
  const heard: string[][] = []
  const stop = new AbortController()
  const reading = (async () => {
    for (let seen = 0; !stop.signal.aborted; seen = subscription.count()) {
      await subscription.waitBeyond(seen, stop.signal)
      heard.push([
        `${subscription.count()} events`,
        ...subscription.takeDeltas(Infinity).map(({ data }) => data['text'] as string),
      ])
    }
  })()
  const microtasks = async (): Promise<void> => {
    for (let at = 0; at < 10; at++) await Promise.resolve()
  }
  await microtasks()
  notifier.notify(session, 1)
  await microtasks()
  notifier.publishDelta(piece('one'), 0)
  await microtasks()
  expect(heard).toEqual([['1 events'], ['1 events', 'one']])
  notifier.publishDelta(piece('two'), 0)
  notifier.notify(session, 2)
  await microtasks()
  expect(heard).toHaveLength(2)
  await turn()
  expect(heard).toEqual([['1 events'], ['1 events', 'one'], ['2 events', 'two']])
  stop.abort()
  await reading
})

test('delivers later text before 50 ms are over when there are 100 pieces of it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const notifier = createNotifier()
  const subscription = notifier.subscribe(session)
  const first = subscription.waitBeyond(0, open)
  notifier.publishDelta(piece('first'), 0)
  await first
  subscription.takeDeltas(Infinity)
  await turn()
  const woken = vi.fn()
  void subscription.waitBeyond(0, open).then(woken)
  for (let at = 1; at < 100; at++) notifier.publishDelta(piece('more'), 0)
  await turn()
  expect(woken).not.toHaveBeenCalled()
  notifier.publishDelta(piece('last'), 0)
  await turn()
  expect(woken).toHaveBeenCalledOnce()
  expect(subscription.takeDeltas(Infinity)).toHaveLength(100)
  subscription.close()
})

test('notifies a reader that subscribes late in a turn at the end of the turn', async () => {
  const notifier = createNotifier()
  const [first, late] = [notifier.subscribe(session), notifier.subscribe(session)]
  const told = first.waitBeyond(0, open)
  notifier.notify(session, 1)
  await told
  const woken = vi.fn()
  void late.waitBeyond(0, open).then(woken)
  await Promise.resolve()
  expect(woken).not.toHaveBeenCalled()
  await turn()
  expect(woken).toHaveBeenCalledOnce()
})

test('shares one query between readers at the same cursor until the next notification', async () => {
  const notifier = createNotifier()
  const [first, second] = [notifier.subscribe(session), notifier.subscribe(session)]
  const load = vi.fn(() => Promise.resolve<StoredEvent[]>([]))
  expect(first.readPage(3, load)).toBe(second.readPage(3, load))
  void second.readPage(4, load)
  expect(load).toHaveBeenCalledTimes(2)
  notifier.notify(session, 1)
  void first.readPage(4, load)
  expect(load).toHaveBeenCalledTimes(3)
  await turn()
  void first.readPage(4, load)
  expect(load).toHaveBeenCalledTimes(4)
})

test('does not notify readers of another session', async () => {
  const notifier = createNotifier()
  const other = notifier.subscribe('other' as SessionId)
  notifier.publishDelta(piece('one'), 0)
  notifier.notify(session, 1)
  await turn()
  expect([other.count(), other.takeDeltas(1)]).toEqual([0, []])
})
