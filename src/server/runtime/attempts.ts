/**
 * Counts failed keys per address in a token bucket. An empty bucket refuses the keys that are not valid; a valid key always
 * passes, whatever other clients behind its address did. Malformed keys do not count, since refusing them is cheap.
 * Source: docs/design/security.md#keys
 */
import type { Clock } from '../../base/clock.ts'
import { Failure, fail } from '../../base/failure.ts'
import { dropOldest } from '../../base/values/collections.ts'

/** Failures that one address may have in a burst, and the time after which each no longer counts. */
const BURST = 1000
const FORGOTTEN_MS = 100
/** Addresses kept in memory; the oldest are evicted first. */
const MAX_ADDRESSES = 10_000

export interface KeyAttempts {
  /** Counts a key that is not valid. @returns how it is refused: `rate_limited` when the address has failed too often */
  refuse(address: string | undefined): Failure
}

export function createKeyAttempts(clock: Clock): KeyAttempts {
  /** Time at which no failure of the address counts any more. */
  const until = new Map<string, number>()
  return {
    refuse(address = '') {
      const now = clock.now()
      const counted = Math.max(until.get(address) ?? 0, now)
      const wait = counted - now - (BURST - 1) * FORGOTTEN_MS
      // A refusal for the rate does not count again, so that the wait it names is true.
      if (wait > 0) return tooMany(Math.ceil(wait / 1000))
      until.delete(address)
      until.set(address, counted + FORGOTTEN_MS)
      dropOldest(until, MAX_ADDRESSES)
      return fail('invalid_api_key')
    },
  }
}

const tooMany = (wait: number): Failure =>
  new Failure('rate_limited', 'Too many requests with API keys that are not valid came from this address.', {
    retryAfterSeconds: wait,
    headers: {
      'ratelimit-policy': `"attempts";q=${BURST};w=${(BURST * FORGOTTEN_MS) / 1000}`,
      ratelimit: `"attempts";r=0;t=${wait}`,
    },
  })
