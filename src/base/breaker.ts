/** Leaves alone what fails again and again. Kept in memory: a process that begins has seen no failure. */
import type { Clock } from './clock.ts'

export interface BreakerLimits {
  /** Failures in a row, from 1, after which a name is left alone. */
  readonly failures: number
  readonly pauseMs: number
}

export interface CircuitBreaker {
  /**
   * Milliseconds for which the name is left alone still; undefined where it may be asked now. After a pause one asks, and the
   * others wait for another pause or for its answer.
   */
  pausedMs(name: string): number | undefined
  /** What came of asking. What says nothing of the name (a caller that gave up) is not told. */
  tell(name: string, answered: boolean): void
}

export function createBreaker({ failures, pauseMs }: BreakerLimits, clock: Clock): CircuitBreaker {
  const failing = new Map<string, { count: number; until: number }>()
  return {
    pausedMs(name) {
      const state = failing.get(name)
      if (!state || state.count < failures) return undefined
      const now = clock.monotonic()
      if (now < state.until) return state.until - now
      state.until = now + pauseMs
      return undefined
    },
    tell(name, answered) {
      if (answered) return void failing.delete(name)
      failing.set(name, { count: (failing.get(name)?.count ?? 0) + 1, until: clock.monotonic() + pauseMs })
    },
  }
}

/** Why a name is not asked, for people and models. */
export const sayPaused = (name: string, { failures }: BreakerLimits, ms: number): string =>
  `${name} has failed ${failures} times in a row and is left alone for ${Math.ceil(ms / 1000)} s.`
