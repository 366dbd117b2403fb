/** How long this process holds sessions, where others share its store. Source: scale-out, section 6. */
import { parseDuration } from '../../base/duration.ts'
import { fail } from '../../base/failure.ts'
import { DEFAULT_LEASE_TIMES, type LeaseTimes } from '../../store/lease.ts'

/** How often a process looks for sessions that another one left behind, however often hints get lost. */
const CLAIM_EVERY_MS = 1000

/** Shorter, a pause of the machine would cost sessions; longer, those of a killed process would wait. */
const SHORTEST_TTL_MS = 5000
const LONGEST_TTL_MS = 300_000

/**
 * @param ttl `SVC_LEASE_TTL`, such as `5s`
 * @throws Failure `config_invalid`
 */
export function sharedLeaseTimes(ttl: string | undefined): LeaseTimes {
  if (ttl === undefined || ttl === '') return { ...DEFAULT_LEASE_TIMES, claimEveryMs: CLAIM_EVERY_MS }
  const ttlMs = parseDuration(ttl)
  if (ttlMs === undefined || ttlMs < SHORTEST_TTL_MS || ttlMs > LONGEST_TTL_MS)
    throw fail('config_invalid', {
      what: `SVC_LEASE_TTL is ${ttl}. It must be a duration from 5s to 300s, such as 15s.`,
    })
  return { ttlMs, marginMs: ttlMs / 5, claimEveryMs: CLAIM_EVERY_MS }
}
