/**
 * Milliseconds to wait before attempt `attempt` (2 for the first repetition): 0.5 s doubling to 8 s, less up to 25 %
 * so that clients that failed together do not retry together.
 * @param random 0 to 1
 * @param serverAsks delay of `Retry-After` in milliseconds; used instead when given
 */
export function backoffMs(attempt: number, random: number, serverAsks?: number): number {
  if (serverAsks !== undefined) return Math.max(0, serverAsks)
  return Math.min(8000, 500 * 2 ** Math.max(0, attempt - 2)) * (1 - random / 4)
}

/**
 * Reads a `Retry-After` header: seconds or an HTTP date. Of several that a proxy joined the first counts, and a unit of seconds is
 * allowed. Undefined when it is absent or cannot be parsed.
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (!header) return undefined
  const seconds = Number(/^\s*([-+.\d]+)\s*s?\s*(?:,|$)/.exec(header)?.[1])
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  // A date has a time of day: other texts are dates to the parser alone.
  const date = header.includes(':') ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
