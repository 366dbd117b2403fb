/** More texts than a project has of one sort; beyond, all are forgotten, so that a long-lived process holds no more. */
const MOST = 10_000

/** Keeps what a function says of a text: a project writes the same versions and ranges at many places. */
export function memoizeByText<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined || known.has(text)) return before as T
    if (known.size === MOST) known.clear()
    const value = compute(text)
    known.set(text, value)
    return value
  }
}
