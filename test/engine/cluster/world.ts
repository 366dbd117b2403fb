/** The world of a simulated cluster: one clock, one source of chance, and work that ends at a later tick. A seed gives one history. */
import type { QueueTimers } from '../../../src/queue/timers.ts'
import { T0 } from '../bench.ts'

export interface Chance {
  /** A whole number from `least` to `most`. */
  int(least: number, most: number): number
  /** True this often, from 0 to 1. */
  often(share: number): boolean
  pick<T>(from: readonly T[]): T
  /** 0 to 1. */
  next(): number
}

/** mulberry32 */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return { next, int, often: (share) => next() < share, pick: (from) => from[int(0, from.length - 1)]! }
}

export interface World {
  readonly chance: Chance
  /** Time of the store, by which leases expire. */
  now(): number
  /** Resolves some ticks later. */
  after(ticks: number): Promise<void>
  /** Timers of one process; none fires while `isAwake` says no. */
  timersFor(isAwake: () => boolean): QueueTimers
  /** Moves the clock, fires what is due in order, and ends work whose tick has come. */
  tick(ms: number): void
}

interface Alarm {
  readonly at: number
  readonly callback: () => void
  readonly isAwake: () => boolean
}

export function createWorld(seed: number): World {
  const chance = createChance(seed)
  const alarms = new Map<number, Alarm>()
  let sleepers: { at: number; wake: () => void }[] = []
  let now = T0
  let ticks = 0
  let handles = 0
  return {
    chance,
    now: () => now,
    after: (count) =>
      count <= 0 ? Promise.resolve() : new Promise((wake) => void sleepers.push({ at: ticks + count, wake })),
    timersFor: (isAwake) => ({
      set(callback, ms) {
        alarms.set(++handles, { at: now + ms, callback, isAwake })
        return handles
      },
      clear: (handle) => void alarms.delete(handle as number),
    }),
    tick(ms) {
      ticks++
      now += ms
      const due = [...alarms].filter(([, { at, isAwake }]) => at <= now && isAwake())
      for (const [handle, { callback }] of due.sort(([, one], [, other]) => one.at - other.at)) {
        alarms.delete(handle)
        callback()
      }
      const ready = sleepers.filter(({ at }) => at <= ticks)
      sleepers = sleepers.filter(({ at }) => at > ticks)
      for (const { wake } of ready) wake()
    },
  }
}
