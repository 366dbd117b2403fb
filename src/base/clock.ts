/** Milliseconds since the epoch, UTC. */
export type Instant = number

/** The only source of time. It is passed to everything that waits or records times, so that tests can control it. */
export interface Clock {
  now(): Instant
  /** Monotonic milliseconds, for measurements and deadlines; unrelated to `now`. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic() {
    // Reading the global `performance` loads a module of Node: 3 ms of every start.
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
}

/** ISO-8601 in UTC with milliseconds, the format of all timestamps in the API. */
export function toIsoText(instant: Instant): string {
  if (instant !== newest.instant) newest = { instant, text: new Date(instant).toISOString() }
  return newest.text
}

/** Consecutive calls mostly format the same time, so the last text is kept. */
let newest = { instant: Number.NaN, text: '' }

export const isoOrNull = (instant: Instant | null | undefined): string | null =>
  instant == null ? null : toIsoText(instant)
