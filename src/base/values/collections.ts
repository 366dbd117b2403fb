/** Questions to lists and maps whose answers are values instead of indices. */

/** Groups values by key; keys and values keep their order. */
export function groupBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): ReadonlyMap<K, readonly V[]> {
  const groups = new Map<K, V[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}

/** The value of a key, made and stored where the map has none. */
export function getOrInsert<K, V extends {}>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** The only item of a list; undefined where there is none or more than one. */
export const onlyItem = <T>(items: readonly T[]): T | undefined => (items.length === 1 ? items[0] : undefined)

/** How many items at the beginning pass a test that none passes after the first failure, found by bisection. */
export function countLeading<T extends {}>(items: readonly T[], passes: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const item = items[middle]
    if (item !== undefined && passes(item)) low = middle + 1
    else high = middle
  }
  return low
}

/** Removes the keys that were added first until at most `most` are left. */
export function dropOldest<K>(collection: Map<K, unknown> | Set<K>, most: number): void {
  for (const key of collection.keys()) {
    if (collection.size <= most) return
    collection.delete(key)
  }
}
