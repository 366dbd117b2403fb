/** A parsed value with its place. */
import { CORE_SCHEMA } from 'js-yaml'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'

/** A value with the offsets of its text. */
export interface YamlNode {
  readonly start: number
  readonly end: number
  readonly value: JsonValue
  /** Members of a mapping, in the order of the text. */
  readonly members: readonly YamlMember[] | undefined
  readonly items: readonly YamlNode[] | undefined
  /** True for an unquoted scalar, whose spelling decides its type. */
  readonly plain: boolean
  /** True for an alias: the node is written elsewhere. */
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

/** The member of a mapping with a key. */
export function memberOf({ members }: YamlNode, key: string): YamlMember | undefined {
  return members?.find((each) => each.key === key)
}

/** The value of an unquoted scalar. */
export function plainValue(written: string): JsonValue {
  const value = CORE_SCHEMA.resolveImplicitScalarTag(written).value as JsonValue
  // The YAML schema parses a number that is too large as a string; here it stays a number, which the reader refuses.
  return typeof value === 'string' && POWER.test(written) ? Number(written) : value
}

/** A number with an exponent. */
const POWER = /^[-+]?(?:\d+\.?\d*|\.\d+)e[-+]?\d+$/i
