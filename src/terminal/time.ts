import type { Instant } from '../base/clock.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration in a sentence: `4 ms`, `8.1 s`, `42 s`, `2 min 5 s`, `30 min`, `5 h`, `3 days`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < 9.95 * SECOND) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < 2 * HOUR) return parts(ms, MINUTE, 'min', SECOND, 's')
  if (ms < 2 * DAY) return parts(ms, HOUR, 'h', MINUTE, 'min')
  return `${Math.floor(ms / DAY)} days`
}

/** `just now`, `12 s ago`, `2 min ago`, `5 h ago`, `3 days ago`; a moment to come: `in 29 min`. */
export function formatRelative(then: Instant, now: Instant): string {
  const ms = Math.abs(now - then)
  if (ms < SECOND) return 'just now'
  const text = formatLargestUnit(ms)
  return then <= now ? `${text} ago` : `in ${text}`
}

function formatLargestUnit(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  return ms < 2 * DAY ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / DAY)} days`
}

/**
 * `10:42:01` in the reader's time zone.
 * @param offsetMinutes reader's offset from UTC; absent = that of this machine
 */
export function timeOfDay(instant: Instant, offsetMinutes = -new Date(instant).getTimezoneOffset()): string {
  return new Date(instant + offsetMinutes * MINUTE).toISOString().slice(11, 19)
}

/** `10:42:01` in the reader's time zone on the day of `now`, with the date on another day: `2026-11-23 10:42:01`. */
export function formatMoment(
  instant: Instant,
  now: Instant,
  offsetMinutes = -new Date(instant).getTimezoneOffset(),
): string {
  const dayOf = (each: Instant): string => new Date(each + offsetMinutes * MINUTE).toISOString().slice(0, 10)
  const time = timeOfDay(instant, offsetMinutes)
  return dayOf(instant) === dayOf(now) ? time : `${dayOf(instant)} ${time}`
}

function parts(ms: number, unit: number, name: string, lesser: number, lesserName: string): string {
  const rest = Math.floor((ms % unit) / lesser)
  return `${Math.floor(ms / unit)} ${name}${rest > 0 ? ` ${rest} ${lesserName}` : ''}`
}
