/** Short forms of values that people read in lists and cards. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration for a table: `4ms`, `8.1s`, `42s`, `29m`, `5h`, `3d`. */
export function shortDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)}ms`
  if (ms < 9.95 * SECOND) return `${(ms / SECOND).toFixed(1)}s`
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)}h`
  return `${Math.floor(ms / DAY)}d`
}

/** The time until a deadline: minutes are rounded up, so that a fresh one of 30 minutes is not shown as 29. */
export function timeLeft(ms: number): string {
  const left = Math.max(0, ms)
  return shortDuration(left > MINUTE ? Math.ceil(left / MINUTE) * MINUTE : left)
}

/** The last six digits of a UUID, since its beginning is the time. Other text is returned unchanged. */
export const shortId = (id: string): string => (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(id) ? id.slice(-6) : id)

/** The beginning of a digest that somebody gave, with or without its algorithm: `sha256:4d1b2c3e…`; `?` for any other text. */
export const digestStart = (text: unknown): string =>
  typeof text === 'string' && /^(?:sha256:)?[0-9a-f]+$/.test(text)
    ? `sha256:${text.replace(/^sha256:/, '').slice(0, 8)}…`
    : '?'

/** The name of a tool or an agent without the first part of its namespace, where there is no room for it. */
export const withoutNamespace = (id: string): string => id.replace(/^[^.\s]+\./, '')
