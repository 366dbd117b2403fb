/** The store's time as a process knows it: whatever its own clock does, it never runs ahead of the store. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStoreClock, MAX_AHEAD_MS } from '../../src/store/store-clock.ts'

const HOUR = 3_600_000

/** One machine and the store, of which only this test knows the true time. */
function openMachine() {
  const world = { now: 1_000_000, wallAhead: 0, slept: 0, storeAhead: 0, away: false }
  const told: number[] = []
  let fire: (() => void) | undefined
  const travels = { there: 0, back: 0 }
  const clock = createStoreClock({
    clock: { now: () => world.now + world.wallAhead, monotonic: () => world.now - world.slept + 5 },
    async ask() {
      world.now += travels.there
      if (world.away) throw new Error('away')
      const at = world.now + world.storeAhead
      world.now += travels.back
      return at
    },
    changed: (ms) => told.push(ms),
    timers: { set: (callback) => (fire = callback), clear: () => (fire = undefined) },
  })
  return { world, clock, told, travels, fire: () => fire?.() }
}

const anyEvent = fc.oneof(
  fc.record({ what: fc.constant('passes' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
  fc.record({ what: fc.constant('clock is set' as const), ms: fc.integer({ min: -2 * HOUR, max: 2 * HOUR }) }),
  fc.record({ what: fc.constant('machine sleeps' as const), ms: fc.integer({ min: 0, max: 2 * HOUR }) }),
  fc.record({ what: fc.constant('is asked' as const), ms: fc.integer({ min: 0, max: 3000 }) }),
  fc.record({ what: fc.constant('is away' as const), ms: fc.constant(0) }),
)

test('never runs ahead of the store, and decides only while its own clock agrees, whatever happens to that', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 40 }), async (events) => {
      const { world, clock, travels } = openMachine()
      await clock.measure()
      /** A sleep that no answer has shown yet may hide an error of the clock, and the store is then ahead of what is known. */
      let shown = 0
      for (const { what, ms } of events) {
        if (what === 'passes' || what === 'machine sleeps') world.now += ms
        if (what === 'machine sleeps') world.slept += ms
        if (what === 'clock is set') world.wallAhead = ms
        if (what === 'is away') world.away = !world.away
        if (what === 'is asked') {
          Object.assign(travels, { there: ms / 3, back: ms - ms / 3 })
          const slept = world.slept
          await clock.measure().then(
            () => (shown = slept),
            () => {},
          )
        }
        expect(clock.now()).toBeLessThanOrEqual(world.now + world.storeAhead)
        const isOff = shown === world.slept && Math.abs(world.wallAhead) > MAX_AHEAD_MS + 3000
        expect(isOff && clock.mayDecide()).toBe(false)
      }
    }),
    { numRuns: 500 },
  )
})

test('tells when the clock of the machine is set while it serves, and when it agrees again', async () => {
  const { world, clock, told } = openMachine()
  await clock.measure()
  world.wallAhead = HOUR
  expect([clock.mayDecide(), clock.aheadMs(), clock.now()]).toEqual([false, HOUR, world.now])
  await clock.measure()
  world.wallAhead = -1001
  expect(clock.aheadMs()).toBe(-1001)
  await clock.measure()
  world.wallAhead = MAX_AHEAD_MS
  expect(clock.mayDecide()).toBe(true)
  await clock.measure()
  expect(told).toEqual([HOUR, 0])
})

test('after the machine slept it decides nothing until it has asked', async () => {
  const { world, clock } = openMachine()
  await clock.measure()
  world.now += HOUR
  world.slept += HOUR
  expect([clock.mayDecide(), clock.now()]).toEqual([false, world.now - HOUR])
  await clock.measure()
  expect([clock.mayDecide(), clock.now()]).toEqual([true, world.now])
})

test('follows a store whose own clock is set back or forth', async () => {
  const { world, clock } = openMachine()
  await clock.measure()
  for (const ahead of [HOUR, -HOUR]) {
    world.storeAhead = ahead
    await clock.measure()
    expect([clock.now(), clock.aheadMs()]).toEqual([world.now + ahead, -ahead])
  }
})

test('does not know the time of a store that has not answered for more than 10 s, and stands still', async () => {
  const { world, clock, fire } = openMachine()
  await clock.measure()
  clock.begin()
  const known = world.now
  world.away = true
  world.now += 10_001
  fire()
  expect([clock.mayDecide(), clock.now()]).toEqual([false, known + 10_000])
  clock.close()
})
