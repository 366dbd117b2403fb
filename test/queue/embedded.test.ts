import { expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { nameBasedId, type SessionId } from '../../src/base/ids.ts'
import { createEmbeddedQueue } from '../../src/queue/embedded.ts'
import type { QueueTimers } from '../../src/queue/timers.ts'

const START = 1_000_000
const A: SessionId = nameBasedId('session', 'a')
const B: SessionId = nameBasedId('session', 'b')

/** Time that only passes when a test says so. */
function handWound() {
  let now = START
  const set = new Map<number, { at: number; callback: () => void }>()
  let count = 0
  const clock: Clock = { now: () => now, monotonic: () => now }
  const timers: QueueTimers = {
    set(callback, ms) {
      set.set(++count, { at: now + ms, callback })
      return count
    },
    clear: (handle) => void set.delete(handle as number),
  }
  return {
    clock,
    timers,
    pending: () => [...set.values()].map(({ at }) => at - START),
    pass: async (ms: number) => {
      now += ms
      for (const [handle, { at, callback }] of set)
        if (at <= now) {
          set.delete(handle)
          callback()
        }
      await settled()
    },
    /** The clock is set, and nothing is called back. */
    jump: (ms: number) => void (now += ms),
  }
}

/** Everything that is scheduled for now has run. */
const settled = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Wakes that end when told. */
function slowWakes() {
  const woken: SessionId[] = []
  const ends: (() => void)[] = []
  return {
    woken,
    wake: (id: SessionId) => {
      woken.push(id)
      return new Promise<void>((resolve) => ends.push(resolve))
    },
    endNext: async () => {
      ends.shift()!()
      await settled()
    },
  }
}

const noTimers = async () => undefined

test('wakes a session once for any number of rings', async () => {
  const woken: SessionId[] = []
  const { clock, timers } = handWound()
  const queue = createEmbeddedQueue(
    { wake: async (id) => void woken.push(id), applyDueTimers: noTimers },
    clock,
    timers,
  )
  queue.wake(A)
  queue.wake(B)
  queue.wake(A)
  expect(woken).toEqual([])
  await settled()
  expect(woken).toEqual([A, B])
  queue.wake(A)
  await settled()
  expect(woken).toEqual([A, B, A])
})

test('wakes sessions side by side, and one of them again when it was rung meanwhile', async () => {
  const { woken, wake, endNext } = slowWakes()
  const { clock, timers } = handWound()
  const queue = createEmbeddedQueue({ wake, applyDueTimers: noTimers }, clock, timers)
  queue.wake(A)
  await settled()
  queue.wake(A)
  queue.wake(A)
  queue.wake(B)
  await settled()
  expect(woken).toEqual([A, B])
  await endNext()
  expect(woken).toEqual([A, B, A])
  await endNext()
  await endNext()
  expect(woken).toEqual([A, B, A])
})

test('closes when the wakes that run have ended, and starts no other', async () => {
  const { woken, wake, endNext } = slowWakes()
  const { clock, timers, pending } = handWound()
  const queue = createEmbeddedQueue({ wake, applyDueTimers: noTimers }, clock, timers)
  queue.wakeAt(START + 10)
  queue.wake(A)
  await settled()
  queue.wake(A)
  queue.wake(B)
  let closed = false
  const closing = queue.close().then(() => (closed = true))
  await settled()
  expect(closed).toBe(false)
  await endNext()
  await closing
  queue.wake(B)
  queue.wakeAt(START + 5)
  await settled()
  expect(woken).toEqual([A])
  expect(pending()).toEqual([])
})

test('fires at the earliest alarm, and then when it was told to look next', async () => {
  const { clock, timers, pending, pass } = handWound()
  const fired: number[] = []
  const next: (number | undefined)[] = [START + 700, undefined]
  const applyDueTimers = async () => {
    fired.push(clock.now() - START)
    return next.shift()
  }
  const queue = createEmbeddedQueue({ wake: async () => {}, applyDueTimers }, clock, timers)
  queue.wakeAt(START + 500)
  queue.wakeAt(START + 200)
  queue.wakeAt(START + 900)
  expect(pending()).toEqual([200])
  await pass(199)
  expect(fired).toEqual([])
  await pass(1)
  expect(fired).toEqual([200])
  expect(pending()).toEqual([700])
  await pass(500)
  expect(fired).toEqual([200, 700])
  expect(pending()).toEqual([])
})

test('fires at once for an alarm that is over', async () => {
  const { clock, timers, pass } = handWound()
  let fired = 0
  const queue = createEmbeddedQueue({ wake: async () => {}, applyDueTimers: async () => void fired++ }, clock, timers)
  queue.wakeAt(START - 5)
  await pass(0)
  expect(fired).toBe(1)
})

test('remembers an alarm that is set while it fires, and fires one at a time', async () => {
  const { clock, timers, pending, pass } = handWound()
  const ends: ((next: number | undefined) => void)[] = []
  const applyDueTimers = () => new Promise<number | undefined>((resolve) => ends.push(resolve))
  const queue = createEmbeddedQueue({ wake: async () => {}, applyDueTimers }, clock, timers)
  queue.wakeAt(START + 10)
  await pass(10)
  queue.wakeAt(START + 20)
  await pass(50)
  expect(ends).toHaveLength(1)
  ends[0]!(START + 400)
  await settled()
  expect(pending()).toEqual([60])
  await pass(0)
  expect(ends).toHaveLength(2)
})

test('looks at the clock once a minute at least, so that a clock that was set makes it late by no more', async () => {
  const { clock, timers, pending, pass, jump } = handWound()
  let fired = 0
  const queue = createEmbeddedQueue({ wake: async () => {}, applyDueTimers: async () => void fired++ }, clock, timers)
  queue.wakeAt(START + 30 * 24 * 3_600_000)
  expect(pending()).toEqual([60_000])
  await pass(60_000)
  expect([fired, ...pending()]).toEqual([0, 120_000])
  jump(31 * 24 * 3_600_000)
  await pass(0)
  expect([fired, ...pending()]).toEqual([1])
})
