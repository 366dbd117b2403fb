/** JSON values: the only free-form data passed between layers. */
import { refuseInexactNumbers } from './exact-number.ts'
import { mayHoldHalves, wellFormedJson } from './well-formed.ts'
import { compareText } from '../values/compare-text.ts'
import { ownMember } from './own-member.ts'

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value as text; empty if it is no string. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A value as an object; empty if it is none. */
export const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})

/** A value as a list; empty if it is none. */
export const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : [])

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
      .sort(([a], [b]) => compareText(a, b))
      .map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`)
    return `{${members.join(',')}}`
  }
  throw new TypeError(`A ${typeof value} is no JSON value.`)
}

/** True if `value` has all that `wanted` has: objects are compared by the keys of `wanted`, other values must be equal. */
export function containsJson(value: JsonValue, wanted: JsonValue): boolean {
  if (isJsonObject(wanted) && isJsonObject(value))
    return Object.entries(wanted).every(([key, each]) => {
      const own = ownMember(value, key)
      return own !== undefined && containsJson(own, each)
    })
  return canonicalJson(wanted) === canonicalJson(value)
}

/** How deep and how large a JSON value may be. */
export interface JsonBounds {
  readonly maxLevels: number
  /** Objects, lists, texts, numbers, booleans and nulls, each counted once. */
  readonly maxValues: number
}

/**
 * For values from outside. They are stored inside other values, and SQLite allows 1,000 levels in all. All steps of a run copy,
 * search and write them; 100,000 values take some milliseconds each time, and a megabyte could hold 500,000.
 */
export const EXTERNAL_JSON: JsonBounds = { maxLevels: 256, maxValues: 100_000 }

/** The value is valid JSON beyond a bound; the message continues a sentence: "nested deeper than 256 levels". */
export class JsonBoundError extends SyntaxError {}

/**
 * Parses JSON written by models, tools and people: the only parser for external values. Half a pair of code units, which no database
 * and no vendor accepts, becomes U+FFFD.
 * @throws JsonBoundError if it exceeds the bounds
 * @throws SyntaxError if it is not valid
 * @throws InexactNumberError if a number cannot be represented exactly
 */
export function parseJson(text: string, bounds = EXTERNAL_JSON): JsonValue {
  const { levels, values } = measureJsonText(text)
  if (levels > bounds.maxLevels) throw new JsonBoundError(tooManyLevels(bounds))
  if (values > bounds.maxValues) throw new JsonBoundError(tooManyValues(bounds))
  const value = JSON.parse(text) as JsonValue
  refuseInexactNumbers(text)
  return mayHoldHalves(text) ? wellFormedJson(value) : value
}

/** As `parseJson`, but undefined for what it would refuse. */
export function parseJsonIfAny(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Says which bound a parsed value exceeds, as a `JsonBoundError` does; undefined where it exceeds none. */
export function findExceededBound(value: unknown, bounds = EXTERNAL_JSON): string | undefined {
  let values = 0
  const visit = (each: unknown, levels: number): string | undefined => {
    if (++values > bounds.maxValues) return tooManyValues(bounds)
    if (typeof each !== 'object' || each === null) return undefined
    if (levels === 0) return tooManyLevels(bounds)
    for (const key in each) {
      const exceeded = visit((each as Readonly<Record<string, unknown>>)[key], levels - 1)
      if (exceeded !== undefined) return exceeded
    }
    return undefined
  }
  return visit(value, bounds.maxLevels)
}

const tooManyLevels = ({ maxLevels }: JsonBounds): string => `nested deeper than ${maxLevels} levels`

const tooManyValues = ({ maxValues }: JsonBounds): string =>
  `larger than ${maxValues.toLocaleString('en')} values (objects, lists, texts and numbers)`

/** Depth of the deepest bracket in JSON text. Recursive parsers must only get text of known depth. */
export const jsonDepth = (text: string): number => measureJsonText(text).levels

/** Counts levels and values by a scan without recursion that skips strings. Text that is not JSON gives some numbers. */
function measureJsonText(text: string): { readonly levels: number; readonly values: number } {
  let depth = 0
  let levels = 0
  // The root, what comes first in a list or object, and what follows a comma.
  let values = 1
  let isFirst = false
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === 0x5c) at++
      else if (code === 0x22) inString = false
      continue
    }
    if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) continue
    const isClosing = code === 0x5d || code === 0x7d
    if (isFirst && !isClosing) values++
    isFirst = code === 0x5b || code === 0x7b
    if (isFirst) levels = Math.max(levels, ++depth)
    else if (isClosing) depth--
    else if (code === 0x2c) values++
    else if (code === 0x22) inString = true
  }
  return { levels, values }
}
