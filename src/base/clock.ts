/** Milliseconds since the epoch, UTC. */
export type Instant = number

/** The only source of time. Everything that waits or stamps is given one, so tests wind it by hand. */
export interface Clock {
  now(): Instant
  /** Milliseconds that only ever grow, for measuring and deadlines; unrelated to `now`. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic() {
    // The global `performance` would load a library of Node's first: 3 ms of every start.
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
}

/** ISO-8601 in UTC with milliseconds, as every timestamp of the interface is written. */
export const toIsoText = (instant: Instant): string => new Date(instant).toISOString()

export const isoOrNull = (instant: Instant | null | undefined): string | null =>
  instant == null ? null : toIsoText(instant)
