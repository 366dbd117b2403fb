/** A parsed value with its place. */
import { CORE_SCHEMA } from 'js-yaml'
import type { JsonValue } from '../../base/json/json.ts'

/** A value with the offsets of its text. */
export interface YamlNode {
  readonly start: number
  readonly end: number
  readonly value: JsonValue
  /** Members of a mapping, in the order of the text. */
  readonly members?: readonly YamlMember[]
  readonly items?: readonly YamlNode[]
  /** True for an unquoted scalar, whose spelling decides its type. */
  readonly plain?: boolean
  /** True for an alias: the node is written elsewhere. */
  readonly alias?: boolean
}

export interface YamlMember {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly node: YamlNode
}

/** The member of a mapping with a key. */
export function memberOf({ members }: YamlNode, key: string): YamlMember | undefined {
  return members?.find((each) => each.key === key)
}

/** The item of a list at an index. */
export const itemAt = ({ items }: YamlNode, index: string): YamlNode | undefined =>
  /^\d+$/.test(index) ? items?.[Number(index)] : undefined

/** The value at the segments of a pointer. */
export function nodeAt(root: YamlNode, segments: readonly string[]): YamlNode | undefined {
  let node: YamlNode | undefined = root
  for (const segment of segments) node = node && (memberOf(node, segment)?.node ?? itemAt(node, segment))
  return node
}

/** The value of an unquoted scalar. */
export function plainValue(written: string): JsonValue {
  const value = CORE_SCHEMA.resolveImplicitScalarTag(written).value as JsonValue
  // The YAML schema parses a number that is too large as a string; here it stays a number, which the reader refuses.
  return typeof value === 'string' && POWER.test(written) ? Number(written) : value
}

/** A number with an exponent. */
const POWER = /^[-+]?(?:\d+\.?\d*|\.\d+)e[-+]?\d+$/i
