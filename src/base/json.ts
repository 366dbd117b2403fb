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
  // `JSON.stringify` writes the canonical text of a value whose keys are in order, many times faster than code of our own.
  const sorted = sortKeys(value)
  return sorted === UNSORTABLE ? writeCanonical(value) : JSON.stringify(sorted)
}

/** `sortKeys` returns it for a value that has no equal whose own order of keys is the canonical one. */
const UNSORTABLE = Symbol('unsortable')

/** The value itself when all its keys are in order, else a copy in which they are. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return isJsonLeaf(value) ? value : refuseLeaf(value)
  return Array.isArray(value) ? sortKeysOfItems(value) : sortKeysOfObject(value)
}

function sortKeysOfItems(value: readonly unknown[]): unknown {
  let sorted: unknown[] | undefined
  for (let at = 0; at < value.length; at++) {
    const each = value[at] ?? null
    const copy = sortKeys(each)
    if (copy === UNSORTABLE) return UNSORTABLE
    if (copy !== each) (sorted ??= [...value])[at] = copy
  }
  return sorted ?? value
}

/** Whole numbers: JavaScript lists such keys first and by their value. */
const INDEX = /^\d+$/

function sortKeysOfObject(value: object): unknown {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return UNSORTABLE
  let last: string | undefined
  let isSorted = true
  let copies: Map<string, unknown> | undefined
  for (const key in value) {
    const each = (value as Readonly<Record<string, unknown>>)[key]
    // Compared by UTF-16 code unit, as RFC 8785 requires.
    if (last !== undefined && key < last) isSorted = false
    last = key
    if (each === undefined) continue
    const copy = sortKeys(each)
    if (copy === UNSORTABLE) return UNSORTABLE
    if (copy !== each) (copies ??= new Map()).set(key, copy)
  }
  if (isSorted && !copies) return value
  const keys = Object.keys(value).sort()
  if (keys.some((key) => INDEX.test(key))) return UNSORTABLE
  return Object.fromEntries(
    keys.map((key) => [key, copies?.get(key) ?? (value as Readonly<Record<string, unknown>>)[key]]),
  )
}

function writeCanonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return isJsonLeaf(value) ? JSON.stringify(value) : refuseLeaf(value)
  if (Array.isArray(value)) return `[${value.map((each) => writeCanonical(each ?? null)).join(',')}]`
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, each]) => `${JSON.stringify(key)}:${writeCanonical(each)}`)
  return `{${members.join(',')}}`
}

const isJsonLeaf = (value: unknown): boolean =>
  value === null || typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value)

function refuseLeaf(value: unknown): never {
  throw new TypeError(typeof value === 'number' ? `${value} is no JSON number.` : `A ${typeof value} is no JSON value.`)
}

/** Maximum nesting of external values. They are stored inside other values, and SQLite allows 1,000 levels in all. */
export const MAX_JSON_LEVELS = 256

/** Error message of `parseJson` for deeper nesting. */
export const NESTING_ERROR = `nested deeper than ${MAX_JSON_LEVELS} levels`

export function isTooDeep(value: unknown, levels = MAX_JSON_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  // Without a list of the values: one body may have 500,000 of them.
  for (const key in value) if (isTooDeep((value as Readonly<Record<string, unknown>>)[key], levels - 1)) return true
  return false
}

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
