/**
 * Bounded answers: which values of an answer come whole, and what stands for the others.
 * Source: decisions, section 2, "Bounded answers".
 */
import type { Digest } from '../../base/digest.ts'
import type { RunId } from '../../base/ids.ts'
import type { ValueReference } from '../../spec/api.ts'

/** No answer is larger, in bytes. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** With `?values=ref`, a value of more bytes comes as a reference. */
export const REFERENCE_BYTES = 4096

/** Bytes of a reference, at most. */
export const REFERENCE_SIZE = 320

/** @param ordinal of the step whose content has the value; absent for a value of the session or a run */
export const toReference = (runId: RunId, digest: Digest, bytes: number, ordinal?: number): ValueReference => ({
  svcValue: digest,
  bytes,
  url: `/v1/runs/${runId}/values/${digest}${ordinal === undefined ? '' : `?ordinal=${ordinal}`}`,
})

/**
 * The size up to which values come whole so that they fit into a budget: the largest give way, all of one size together.
 * @param sizes bytes of each value
 * @param least values up to this size stay, whatever the budget
 * @returns Infinity where all fit
 */
export function wholeLimit(sizes: readonly number[], budget: number, least: number): number {
  let left = budget - sizes.reduce((sum, size) => sum + size, 0)
  let limit = Infinity
  for (const size of sizes.filter((each) => each > least).sort((a, b) => b - a)) {
    if (left >= 0 && size < limit + 1) break
    left += size - REFERENCE_SIZE
    limit = size - 1
  }
  return limit
}
