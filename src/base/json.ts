/** JSON values: the only free-form data passed between layers. */
import { refuseInexactNumbers } from './exact-number.ts'

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Canonical text of a JSON value (RFC 8785): keys sorted by UTF-16 code unit, numbers as ECMAScript prints them, no space.
 * Two values with the same meaning have the same text on every machine, so a digest over it is an identity.
 * Properties that are `undefined` are left out, as `JSON.stringify` does.
 * @throws TypeError for a number that JSON cannot express (NaN, infinities) or any other value outside JSON
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is no JSON number.`)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null)).join(',')}]`
  if (typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, each]) => each !== undefined)
      // The default comparison of strings is by UTF-16 code unit, as RFC 8785 requires.
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`)
    return `{${members.join(',')}}`
  }
  throw new TypeError(`A ${typeof value} is no JSON value.`)
}

/** True if `value` has all that `wanted` has: objects are compared by the keys of `wanted`, other values must be equal. */
export function containsJson(value: JsonValue, wanted: JsonValue): boolean {
  if (isJsonObject(wanted) && isJsonObject(value))
    return Object.entries(wanted).every(([key, each]) => Object.hasOwn(value, key) && containsJson(value[key]!, each))
  return canonicalJson(wanted) === canonicalJson(value)
}

/** Maximum nesting of external values. They are stored inside other values, and SQLite allows 1,000 levels in all. */
export const MAX_JSON_LEVELS = 256

/** Error message of `parseJson` for deeper nesting. */
export const NESTING_ERROR = `nested deeper than ${MAX_JSON_LEVELS} levels`

export const isTooDeep = (value: unknown, levels = MAX_JSON_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1)))

/**
 * Parses JSON written by models, tools and people: the only parser for external values.
 * @throws SyntaxError if it is not valid, or has more levels than `MAX_JSON_LEVELS`
 * @throws InexactNumberError if a number cannot be represented exactly
 */
export function parseJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue
  refuseInexactNumbers(text)
  if (isTooDeep(value)) throw new SyntaxError(NESTING_ERROR)
  return value
}

/**
 * Depth of the deepest bracket in JSON text, found by a scan without recursion that skips strings.
 * Recursive parsers must only get text of known depth.
 */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === 0x5c) at++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x5d || code === 0x7d) depth--
  }
  return deepest
}
