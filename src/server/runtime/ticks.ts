/**
 * When a schedule is due, on the clock of its time zone. croner finds the times on the clock; here each becomes a moment, also
 * where the clock changes:
 *
 * - Fixed times (the hour is a number, list, range or step) come once each: of a repeated hour in its first pass, those of a
 *   skipped hour together at the moment it would be over.
 * - A schedule of every hour follows the time that passes: it has nothing in a skipped hour, and a repeated hour has it twice.
 *
 * Source: docs/design/models-and-tools.md#schedules
 */
import { Cron } from 'croner'
import type { Instant } from '../../base/clock.ts'
import type { Trigger } from '../../spec/people/key.ts'

const HOUR_MS = 3_600_000
/** More than a clock goes back at once. */
const REPEATED_MS = 3 * HOUR_MS
/** Offsets are compared once a day; no zone changes its clock twice within one. */
const STEP_MS = 24 * HOUR_MS

/** First tick after `since`; Infinity when there is none. */
export function nextTick({ cron, timeZone }: Pick<Trigger, 'cron' | 'timeZone'>, since: Instant): Instant {
  const pattern = cron ?? ''
  // A single date may name its own zone, and is left to croner.
  if (timeZone === null || pattern.includes(':')) return nextMatch(pattern, since, timeZone ?? undefined)
  const offsetAt = offsetsOf(timeZone)
  const isFixed = !isEveryHour(pattern)
  /** Moment from which on the offset holds, and the time on the clock after which a match counts. */
  let from = since
  let offset = offsetAt(since)
  let after = since + offset
  if (isFixed) {
    const before = offsetAt(since - REPEATED_MS)
    if (before > offset) after = Math.max(after, firstChange(offsetAt, since - REPEATED_MS, since) + before - 1)
  }
  for (;;) {
    const match = nextMatch(pattern, after, 'UTC')
    if (match === Infinity) return Infinity
    const tick = match - offset
    if (offsetAt(tick) === offset) return tick
    const change = firstChange(offsetAt, from, tick)
    const before = offset
    offset = offsetAt(change)
    from = change
    // Behind the change lie all matches of the clock before it.
    if (isFixed && offset > before && match < change + offset) return change
    after = change + (isFixed ? Math.max(before, offset) : offset) - 1
  }
}

function nextMatch(pattern: string, since: number, timezone = 'UTC'): number {
  return new Cron(pattern, { paused: true, timezone }).nextRun(new Date(since))?.getTime() ?? Infinity
}

/** `*`, `*` and `/1`, and what croner takes for the same. */
function isEveryHour(pattern: string): boolean {
  const fields = pattern.trim().split(/\s+/)
  const [first = '', second = '', third = ''] = fields
  if (fields.length === 1) return /^@hourly$/i.test(first)
  return /^(?:\*|\?|0-23)(?:\/1)?$/.test(fields.length === 5 ? second : third)
}

/** First moment in `(from, to]` whose offset is another than at `from`; there is one. */
function firstChange(offsetAt: (at: Instant) => number, from: Instant, to: Instant): Instant {
  const offset = offsetAt(from)
  let low = from
  let high = Math.min(from + STEP_MS, to)
  while (offsetAt(high) === offset) {
    low = high
    high = Math.min(high + STEP_MS, to)
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === offset) low = middle
    else high = middle
  }
  return high
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Milliseconds that the clock of a zone is ahead of UTC. */
function offsetsOf(timeZone: string): (at: Instant) => number {
  let format = formats.get(timeZone)
  if (!format) {
    const numeric = { year: 'numeric', month: 'numeric', day: 'numeric' } as const
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone, ...numeric, ...time })
    formats.set(timeZone, format)
  }
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day, hour, minute, second } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
  }
}
