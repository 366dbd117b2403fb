/** The order of keys that the schemas give. */
import { KINDS } from '../../spec/document.ts'
import { keysAtPath, type SchemaName } from '../workspace/schema-keys.ts'

/** The order of the keys at a path; undefined where authors choose the keys. */
export type KeyOrder = (path: readonly (string | number)[]) => readonly string[] | undefined

/** @param kind the `kind` of the document */
export const keyOrderOf = (kind: unknown): KeyOrder =>
  KINDS.some((each) => each === kind)
    ? (path) => keysAtPath(String(kind).toLowerCase() as SchemaName, path)
    : () => undefined

/** Sorts by the order; other members follow in their original order. */
export function inOrder<T>(items: readonly T[], order: readonly string[], nameOf: (item: T) => string): T[] {
  const rank = (item: T): number => {
    const at = order.indexOf(nameOf(item))
    return at < 0 ? order.length : at
  }
  // Sorting is stable.
  return [...items].sort((a, b) => rank(a) - rank(b))
}
