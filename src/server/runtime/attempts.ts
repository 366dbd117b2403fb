/**
 * Counts failed keys per address in a token bucket: an empty bucket refuses a request before the store is queried. Keys that
 * were accepted before always pass, so that another client behind the same address cannot lock them out. Malformed keys do
 * not count, since refusing them is cheap. Source: security, S4.
 */
import type { Clock } from '../../base/clock.ts'
import { Failure } from '../../base/failure.ts'

/** Failures that one address may have in a burst, and the time after which each no longer counts. */
const BURST = 1000
const FORGOTTEN_MS = 100
/** Addresses and keys kept in memory; the oldest are evicted first. */
const MAX_ADDRESSES = 10_000
const MAX_KEYS = 1000

export interface KeyAttempts {
  /** @throws Failure `rate_limited` when the address has failed too often */
  check(address: string | undefined, keyHash: string): void
  failed(address: string | undefined): void
  accepted(keyHash: string): void
}

export function createKeyAttempts(clock: Clock): KeyAttempts {
  /** Time at which no failure of the address counts any more. */
  const until = new Map<string, number>()
  const known = new Set<string>()
  return {
    check(address = '', keyHash) {
      const wait = (until.get(address) ?? 0) - clock.now() - (BURST - 1) * FORGOTTEN_MS
      if (wait > 0 && !known.has(keyHash)) throw tooMany(Math.ceil(wait / 1000))
    },
    failed(address = '') {
      const next = Math.max(until.get(address) ?? 0, clock.now()) + FORGOTTEN_MS
      until.delete(address)
      until.set(address, next)
      dropOldest(until, MAX_ADDRESSES)
    },
    accepted(keyHash) {
      if (known.has(keyHash)) return
      known.add(keyHash)
      dropOldest(known, MAX_KEYS)
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

function dropOldest(entries: Map<string, unknown> | Set<string>, most: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= most) return
    entries.delete(oldest)
  }
}
