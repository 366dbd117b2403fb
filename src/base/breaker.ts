/** Circuit breaker: pauses requests to a name that keeps failing. Failures are counted in memory and lost at a restart. */
import type { Clock } from './clock.ts'

export interface BreakerLimits {
  /** Consecutive failures after which a name is paused; at least 1. */
  readonly failures: number
  readonly pauseMs: number
}

export interface CircuitBreaker {
  /**
   * Remaining milliseconds of the pause; undefined where a request may be made now. After a pause one caller tries; the
   * others wait for its result.
   */
  pausedMs(name: string): number | undefined
  /** Records the result of a request. Results that say nothing about the name (a caller that gave up) are not recorded. */
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

/** Why a name is paused, for people and models. */
export const describePause = (name: string, { failures }: BreakerLimits, ms: number): string =>
  `${name} has failed ${failures} times in a row and is left alone for ${Math.ceil(ms / 1000)} s.`
