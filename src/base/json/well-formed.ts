/** Well-formed Unicode inside JSON values: what databases and vendors accept. */

/** A copy in which every half of a pair of code units is U+FFFD, keys included; the same value where there is none. */
export const wellFormedJson = <T>(value: T): T => (isWellFormedJson(value) ? value : (copyWellFormed(value) as T))

/** Looks before anything is copied: almost every value is well-formed, and the largest are walked while others wait. */
function isWellFormedJson(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isWellFormedJson)
  return Object.entries(value).every(isWellFormedJson)
}

function copyWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyWellFormed)
  return Object.fromEntries(Object.entries(value).map(copyWellFormed) as [string, unknown][])
}

/** Whether JSON text can hold a half of a pair: as it is, or escaped. */
export const mayHoldHalves = (text: string): boolean => text.includes(String.raw`\u`) || !text.isWellFormed()
