/** Values of a query by the type that its schema gives them. Text that is no such value stays text, and the schema refuses it. */

/** The parameters that are there; of one that is given twice the first counts. */
export const queryTexts = (query: URLSearchParams, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const text = query.get(name)
      return text === null ? [] : [[name, text]]
    }),
  )

/** A number in digits, bounded by the largest safe integer. */
export function queryInteger(query: URLSearchParams, name: string): Record<string, number | string> {
  const text = query.get(name)
  return text === null ? {} : { [name]: isDigits(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text }
}

/** `true` or `false`. */
export function queryBoolean(query: URLSearchParams, name: string): Record<string, boolean | string> {
  const text = query.get(name)
  if (text === null) return {}
  return { [name]: text === 'true' || text === 'false' ? text === 'true' : text }
}

export const isDigits = (text: string): boolean => /^\d+$/.test(text)
