/** Requests that a client repeats with the same `Idempotency-Key`. Source: docs/design/http.md#bodies-and-errors */
import type { Clock } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { approverOf, type Principal } from '../../spec/people/key.ts'
import type { IdempotencyClaim, RepeatedRequest } from '../../store/start-outcome.ts'
import type { SessionStore } from '../../store/session-store.ts'

/** How long an `Idempotency-Key` is remembered. */
const IDEMPOTENCY_MS = 24 * 3600_000

/** `Idempotency-Key` with the digest of the body it came with. */
export interface RequestKey {
  readonly key: string
  readonly bodyDigest: string
}

export type OpenClaim = Omit<IdempotencyClaim, 'response'>

/** The claim of a request, without its response. */
export const claimOf = (
  { clock }: { readonly clock: Clock },
  by: Principal,
  route: string,
  { key, bodyDigest }: RequestKey,
): OpenClaim => ({
  principal: approverOf(by),
  route,
  key,
  bodyDigest: bodyDigest as Digest,
  expiresAt: clock.now() + IDEMPOTENCY_MS,
})

/**
 * The response to the earlier request of a claim; undefined where there was none.
 * @throws Failure `idempotency_key_reused`
 */
export async function findRepeated(
  { store, clock }: { readonly store: SessionStore; readonly clock: Clock },
  claim: OpenClaim,
): Promise<JsonObject | undefined> {
  const { principal, route, key, bodyDigest } = claim
  const before = await store.findEarlierStart(principal, route, key, bodyDigest, clock.now())
  return before && toRepeated(before)
}

/** @throws Failure `idempotency_key_reused` */
export function toRepeated(before: RepeatedRequest): JsonObject {
  if (before.outcome === 'key_reused') throw fail('idempotency_key_reused')
  return { ...before.response, duplicateDelivery: true }
}

export const closeClaim = (claim: OpenClaim, response: object): IdempotencyClaim => ({
  ...claim,
  response: { ...response } as JsonObject,
})
