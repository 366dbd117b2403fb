import type { Instant } from '../../../base/clock.ts'

/**
 * The moment that decides about leases, timers, rates and days. Processes need not agree on the time, so it is the database's:
 * null. A test gives its own.
 */
export interface DatabaseMoment {
  readonly isGiven: boolean
  now(): Instant | null
}
