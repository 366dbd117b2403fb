/**
 * The value, where the types cannot say that there is one.
 * @param why the reason in words, which the error of a bug shows
 */
export function expectDefined<T>(value: T, why: string): NonNullable<T> {
  if (value === undefined || value === null) throw new Error(`Expected a value: ${why}.`)
  return value
}
