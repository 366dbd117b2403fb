/**
 * Bounded answers: which values of an answer are included, and which are replaced by references.
 * Source: docs/design/http.md#bounded-answers
 */

/** Maximum bytes of an answer. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Bytes of a reference, at most. */
export const REFERENCE_SIZE = 320

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
