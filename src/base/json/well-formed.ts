/** Well-formed Unicode inside JSON values: what databases and vendors accept. */

/** A copy in which every half of a pair of code units is U+FFFD, keys included; the same value where there is none. */
export function wellFormedJson<T>(value: T): T {
  if (typeof value === 'string') return (value.isWellFormed() ? value : value.toWellFormed()) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const copy = value.map((each: unknown) => wellFormedJson(each))
    return (copy.some((each, at) => each !== value[at]) ? copy : value) as T
  }
  let isChanged = false
  const members = Object.entries(value).map(([key, each]): [string, unknown] => {
    const member: [string, unknown] = [wellFormedJson(key), wellFormedJson(each)]
    isChanged ||= member[0] !== key || member[1] !== each
    return member
  })
  return isChanged ? (Object.fromEntries(members) as T) : value
}

/** Whether JSON text can hold a half of a pair: as it is, or escaped. */
export const mayHoldHalves = (text: string): boolean => HALF_ESCAPE.test(text) || !text.isWellFormed()

const HALF_ESCAPE = /\\u[dD][89a-fA-F]/
