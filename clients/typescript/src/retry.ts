/**
 * Milliseconds to wait before attempt `attempt` (2 for the first repetition): 0.5 s doubling to 8 s, less up to 25 %, so that
 * clients that failed together do not retry together.
 * @param serverAsks delay of `Retry-After` in milliseconds; used instead when given
 */
export function retryDelayMs(attempt: number, serverAsks?: number): number {
  if (serverAsks !== undefined) return serverAsks
  return Math.min(8000, 500 * 2 ** (attempt - 2)) * (1 - Math.random() / 4)
}

/** Reads a `Retry-After` header: seconds or an HTTP date. Undefined when it is absent or cannot be parsed. */
export function parseRetryAfter(header: string | null): number | undefined {
  if (!header) return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
