/** More distinct texts than a project has. At this size the cache is emptied, to bound the memory of a long-lived process. */
const MAX_TEXTS = 10_000

/** Computes a value once per text: a project repeats the same versions and ranges in many places. */
export function memoizeByText<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined || known.has(text)) return before as T
    if (known.size === MAX_TEXTS) known.clear()
    const value = compute(text)
    known.set(text, value)
    return value
  }
}
