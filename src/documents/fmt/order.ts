/** The order of keys that the schemas give. */
import { KINDS } from '../../spec/document.ts'
import { keys } from '../generated/keys.js'
import type { SchemaName } from '../workspace/schema-keys.ts'

/** The order of the keys at a path; undefined where authors choose the keys. */
export type KeyOrder = (path: readonly (string | number)[]) => readonly string[] | undefined

/** @param kind the `kind` of the document */
export function keyOrderOf(kind: unknown): KeyOrder {
  const table = KINDS.some((each) => each === kind) ? keys[String(kind).toLowerCase() as SchemaName] : undefined
  if (table === undefined) return () => undefined
  const tables = Object.entries(table).map(([path, names]) => [path === '' ? [] : path.split('.'), names] as const)
  return (path) =>
    tables.find(
      ([parts]) => parts.length === path.length && parts.every((part, at) => part === '*' || part === path[at]),
    )?.[1]
}

/** Sorts by the order; other members follow in their original order. */
export function inOrder<T>(items: readonly T[], order: readonly string[], nameOf: (item: T) => string): T[] {
  const rank = (item: T): number => {
    const at = order.indexOf(nameOf(item))
    return at < 0 ? order.length : at
  }
  // Sorting is stable.
  return [...items].sort((a, b) => rank(a) - rank(b))
}
