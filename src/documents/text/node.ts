/** A value of a text with its place, as readers of YAML give it. */
import { CORE_SCHEMA } from 'js-yaml'
import type { JsonObject, JsonValue } from '../../base/json.ts'

/** A value and where it stands. Offsets are into the source's text. */
export interface YamlNode {
  readonly start: number
  readonly end: number
  readonly value: JsonValue
  /** Members of a mapping, in the order of the text. */
  readonly members: readonly YamlMember[] | undefined
  readonly items: readonly YamlNode[] | undefined
  /** True for a scalar without quotes, whose type its spelling decides. */
  readonly plain: boolean
  /** True when the node is written elsewhere and only named here. */
  readonly alias: boolean
}

export interface YamlMember {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly node: YamlNode
}

export const scalarAt = (start: number, end: number, value: JsonValue, plain: boolean): YamlNode => ({
  start,
  end,
  value,
  members: undefined,
  items: undefined,
  plain,
  alias: false,
})

export const mappingAt = (start: number, end: number, value: JsonObject, members: readonly YamlMember[]): YamlNode => ({
  start,
  end,
  value,
  members,
  items: undefined,
  plain: false,
  alias: false,
})

export const sequenceAt = (start: number, end: number, value: JsonValue[], items: readonly YamlNode[]): YamlNode => ({
  start,
  end,
  value,
  members: undefined,
  items,
  plain: false,
  alias: false,
})

/** What stands under a key of a mapping. */
export function memberOf({ members }: YamlNode, key: string): YamlMember | undefined {
  return members?.find((each) => each.key === key)
}

/** What a scalar without quotes says: its spelling decides. */
export function plainValue(written: string): JsonValue {
  const value = CORE_SCHEMA.resolveImplicitScalarTag(written).value as JsonValue
  // The schema reads a number that is too large as a text. It is a number, which the reader refuses.
  return typeof value === 'string' && POWER.test(written) ? Number(written) : value
}

/** A number with an exponent. */
const POWER = /^[-+]?(?:\d+\.?\d*|\.\d+)e[-+]?\d+$/i
