import { parseDuration } from '../../base/duration.ts'
import { fail } from '../../base/failure.ts'

/** A whole number of an option; undefined when it was not given. */
export function wholeNumber(text: string | undefined, option: string, least = 0): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || !Number.isSafeInteger(value))
    throw fail('usage', { what: `--${option} takes a whole number of at least ${least}, not "${text}".` })
  return value
}

/** A number as people write it; undefined for other text, also for what else `Number` reads, such as `0x10` and `Infinity`. */
export const readTypedNumber = (text: string): number | undefined =>
  /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : undefined

/** Milliseconds of an option that takes a duration. */
export function durationMs(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined)
    throw fail('usage', { what: `--${option} takes a duration such as 30s, 10m or 7d, not "${text}".` })
  return ms
}

/** Parses `10m` (ago), a date or an RFC 3339 time. Refuses what else `Date.parse` accepts: `99` would be the year 1999. */
export function parseMoment(text: string, now: number): number {
  const ago = parseDuration(text)
  const written = MOMENT.test(text) && isOfCalendar(text) ? Date.parse(text) : Number.NaN
  const at = ago === undefined ? written : now - ago
  if (Number.isNaN(at))
    throw fail('usage', { what: `"${text}" is not a time; write 10m, 2026-11-20 or an RFC 3339 time.` })
  return at
}

/** Parses `90d` (from now on), a date, an RFC 3339 time, or `never`, which is null. */
export function parseEnd(text: string, now: number): number | null {
  if (text === 'never') return null
  const ahead = parseDuration(text)
  return ahead === undefined ? parseMoment(text, now) : now + ahead
}

/** A date, or a time with its offset (RFC 3339). */
const MOMENT = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/

/** Refuses days that do not exist: `Date.parse` reads 30 February as 2 March. */
function isOfCalendar(text: string): boolean {
  const day = text.slice(0, 10)
  const at = Date.parse(day)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day)
}
