/** Three-valued truth (Kleene), and the values that comparisons test. Source: docs/design/policies.md#three-valued-logic */
import type { JsonValue } from '../../base/json/json.ts'

export type TruthValue = 'true' | 'false' | 'unknown'

/** What a comparison of an absent value is worth: unknown where nothing is said. */
export function truthOf(known: boolean | undefined): TruthValue {
  if (known === undefined) return 'unknown'
  return known ? 'true' : 'false'
}

export function negateTruth(truth: TruthValue): TruthValue {
  if (truth === 'unknown') return 'unknown'
  return truth === 'true' ? 'false' : 'true'
}

/** False when one is false, else unknown when one is unknown. */
export function combineAll(truths: readonly TruthValue[]): TruthValue {
  if (truths.includes('false')) return 'false'
  return truths.includes('unknown') ? 'unknown' : 'true'
}

/** True when one is true, else unknown when one is unknown. */
export function combineAny(truths: readonly TruthValue[]): TruthValue {
  if (truths.includes('true')) return 'true'
  return truths.includes('unknown') ? 'unknown' : 'false'
}

/**
 * A value that only `exists` and `type` may use: its path leads through something without members, it is a number that JSON
 * parsers may have rounded, a string that is too long, or a function had no result. It is not absent: `if_missing` does not
 * apply to it.
 */
export class UnusableValue {
  /** What `exists` and `type` test, and people see; undefined = nothing. */
  readonly value: JsonValue | undefined
  constructor(value?: JsonValue) {
    this.value = value
  }
}

/** The value at the path of a comparison; undefined = absent. For a path with `[*]` the whole list. */
export type SubjectValue = JsonValue | UnusableValue | undefined

/** The value as `exists`, `type` and people see it. */
export const showValue = (value: SubjectValue): JsonValue | undefined =>
  value instanceof UnusableValue ? value.value : value

/** A comparison with its literal filled in. */
export type ValueTest = (value: SubjectValue) => TruthValue

/** Longer strings, in bytes of UTF-8, make a comparison unknown. */
const MAX_STRING_BYTES = 64 * 1024

/** True for a number outside the safe range and for a string that is too long. */
export function isOutOfRange(value: SubjectValue): value is JsonValue {
  if (typeof value === 'number') return !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)
  // A UTF-16 code unit takes at most three bytes, so most strings need not be counted.
  return typeof value === 'string' && value.length * 3 > MAX_STRING_BYTES && Buffer.byteLength(value) > MAX_STRING_BYTES
}
