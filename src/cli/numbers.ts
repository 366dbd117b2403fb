import { parseDuration } from '../base/duration.ts'
import { fail } from '../base/failure.ts'

/** A whole number of an option; undefined when it was not given. */
export function wholeNumber(text: string | undefined, option: string, least = 0): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || !Number.isSafeInteger(value))
    throw fail('usage', { what: `--${option} takes a whole number of at least ${least}, not "${text}".` })
  return value
}

/** Milliseconds of an option that takes a duration. */
export function durationMs(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined)
    throw fail('usage', { what: `--${option} takes a duration such as 30s, 10m or 7d, not "${text}".` })
  return ms
}

/** `10m` ago, a date, or a moment. */
export function moment(text: string, now: number): number {
  const ago = parseDuration(text)
  const at = ago === undefined ? Date.parse(text) : now - ago
  if (Number.isNaN(at))
    throw fail('usage', { what: `"${text}" is no time; write 10m, 2026-11-20 or an RFC 3339 moment.` })
  return at
}
