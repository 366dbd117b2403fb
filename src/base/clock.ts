/** Milliseconds since the epoch, UTC. */
export type Instant = number

/** The only source of time. It is passed to everything that waits or records times, so that tests can control it. */
export interface Clock {
  now(): Instant
  /** Monotonic milliseconds, for measurements and deadlines; unrelated to `now`. */
  monotonic(): number
}

/**
 * The time of a store. Several processes decide about the same runs, and their own clocks differ, so time-outs, windows, leases and
 * schedules go by the one clock that they share.
 */
export interface StoreClock extends Clock {
  /** The clock of this process, which goes on while the machine is suspended, and may be set at any moment. Decides nothing. */
  wall(): Instant
  /** How far `wall` is certainly ahead of the store's clock; negative where it is behind. */
  aheadMs(): number
  /**
   * False while the clock of this process is too far from the store's, or the store's time is not known: the process claims nothing
   * and fires no timer.
   */
  mayDecide(): boolean
}

/** The clock of a store that one process has to itself. */
export const ownStoreClock = (clock: Clock): StoreClock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  wall: () => clock.now(),
  aheadMs: () => 0,
  mayDecide: () => true,
})

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

/** For mails and pages that know no time zone of their reader: `2026-01-02 03:04 UTC`. */
export const toMinuteText = (at: Instant): string => `${toIsoText(at).slice(0, 16).replace('T', ' ')} UTC`
