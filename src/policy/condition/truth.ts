/** Three-valued truth, and the values that comparisons are made with. Source: policies, section 2. */
import type { JsonValue } from '../../base/json.ts'

export type TruthValue = 'true' | 'false' | 'unknown'

/**
 * A value that no comparison may use: it lies behind something without members, is a number that readers of JSON may have
 * rounded, a string that is too long, or what a function has no result for. It is not absent: an author's `if_missing` does
 * not excuse it.
 */
export class UnusableValue {
  /** What `exists` and `type` ask about, and people see; undefined = nothing. */
  readonly value: JsonValue | undefined
  constructor(value?: JsonValue) {
    this.value = value
  }
}

/** What a leaf is about; undefined = absent. For a path with `[*]` the whole list. */
export type SubjectValue = JsonValue | UnusableValue | undefined

/** A value as people see it. */
export const showValue = (value: SubjectValue): JsonValue | undefined =>
  value instanceof UnusableValue ? value.value : value

/** What a comparison makes of a value. */
export type ValueTest = (value: SubjectValue) => TruthValue

const MAX_NUMBER = Number.MAX_SAFE_INTEGER
/** Strings longer than this, in bytes of UTF-8, are unclear. */
const MAX_STRING_BYTES = 64 * 1024
/** Strings of so many characters are not, whatever these are. */
const SURELY_SHORT = Math.floor(MAX_STRING_BYTES / 3)

export function isOutOfRange(value: SubjectValue): value is JsonValue {
  return typeof value === 'string' ? isLong(value) : typeof value === 'number' && !isSafe(value)
}

function isSafe(value: number): boolean {
  return value <= MAX_NUMBER && value >= -MAX_NUMBER
}

function isLong(value: string): boolean {
  return value.length > SURELY_SHORT && isTooLong(value)
}

const isTooLong = (value: string): boolean => Buffer.byteLength(value) > MAX_STRING_BYTES
