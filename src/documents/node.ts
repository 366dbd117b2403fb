/** A value of a text with its place, as readers of YAML give it. */
import { CORE_SCHEMA } from 'js-yaml'
import type { JsonObject, JsonValue } from '../base/json.ts'

/** A value and where it stands. Offsets are into the source's text. */
export interface Node {
  readonly start: number
  readonly end: number
  readonly value: JsonValue
  /** Members of a mapping, in the order of the text. */
  readonly members: readonly Member[] | undefined
  readonly items: readonly Node[] | undefined
  /** True for a scalar without quotes, whose type its spelling decides. */
  readonly plain: boolean
  /** True when the node is written elsewhere and only named here. */
  readonly alias: boolean
}

export interface Member {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly node: Node
}

// One shape for all: what reads them meets no other.
export const scalarAt = (start: number, end: number, value: JsonValue, plain: boolean): Node => ({
  start,
  end,
  value,
  members: undefined,
  items: undefined,
  plain,
  alias: false,
})

export const mappingAt = (start: number, end: number, value: JsonObject, members: readonly Member[]): Node => ({
  start,
  end,
  value,
  members,
  items: undefined,
  plain: false,
  alias: false,
})

export const sequenceAt = (start: number, end: number, value: JsonValue[], items: readonly Node[]): Node => ({
  start,
  end,
  value,
  members: undefined,
  items,
  plain: false,
  alias: false,
})

/** What stands under a key of a mapping. */
export function memberOf({ members }: Node, key: string): Member | undefined {
  // By index: where this runs, an iterator would cost more than what it finds.
  if (members !== undefined)
    for (let at = 0; at < members.length; at++) if (members[at]!.key === key) return members[at]
  return undefined
}

/** What a scalar without quotes says: its spelling decides. */
export function plainValue(written: string): JsonValue {
  if (beginsText(written.charCodeAt(0))) return written
  if (DIGITS.test(written)) return Number(written)
  const value = CORE_SCHEMA.resolveImplicitScalarTag(written).value as JsonValue
  // The schema takes a number that is too large for a text; it is a number, which the reader refuses.
  return typeof value === 'string' && POWER.test(written) ? Number(written) : value
}

/** True for letters with which no number, truth value or null begins. */
const beginsText = (code: number): boolean =>
  code >= 0x61 && code <= 0x7a
    ? code !== 0x66 && code !== 0x6e && code !== 0x74
    : code >= 0x41 && code <= 0x5a && code !== 0x46 && code !== 0x4e && code !== 0x54

/** A number with an exponent. */
const POWER = /^[-+]?(?:\d+\.?\d*|\.\d+)e[-+]?\d+$/i

/** Of a number that they say whole. */
const DIGITS = /^[1-9]\d{0,14}$/
