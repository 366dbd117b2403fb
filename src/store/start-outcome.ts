/** The parameters of a start besides its session, and its outcome. */
import type { Instant } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type { JsonObject } from '../base/json/json.ts'
import type { Money } from '../spec/price.ts'

export interface StartLimits {
  readonly ratePerMinute: number | null
  readonly ratePerDay: number | null
  readonly maxConcurrentRuns: number | null
  readonly planRunsPerDay: number | null
  readonly planTokensPerDay: number | null
  readonly planCostPerDay: Money | null
}

export interface IdempotencyClaim {
  /** `approverOf` of the principal. */
  readonly principal: string
  readonly route: string
  readonly key: string
  readonly bodyDigest: Digest
  /** Response returned to a repeated request. */
  readonly response: JsonObject
  readonly expiresAt: Instant
}

export type StartOutcome =
  | { readonly outcome: 'started' }
  | { readonly outcome: 'replayed'; readonly response: JsonObject }
  | { readonly outcome: 'key_reused' }
  /** `retryAfterSeconds` until the next start would be accepted, at least 1. */
  | { readonly outcome: 'rate_limited'; readonly limit: string; readonly retryAfterSeconds: number }
  | { readonly outcome: 'concurrency_limited'; readonly limit: number }
  | { readonly outcome: 'plan_limited'; readonly limit: string; readonly value: number | string }

/** Outcome of the earlier request of an idempotency key. */
export type RepeatedRequest = Extract<StartOutcome, { outcome: 'replayed' | 'key_reused' }>
