/** `within`: days and hours of a time zone. Source: docs/design/policies.md#operators */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const KEYS = ['days', 'from', 'to', 'tz']
const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/
const MINUTES_A_DAY = 24 * 60

/** Everything that is wrong with the literal of `within`, in sentences, or undefined. */
export function withinProblem(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return '`within` takes {days: [mon, …], from: "HH:MM", to: "HH:MM", tz: zone}.'
  const unknown = Object.keys(value).filter((key) => !KEYS.includes(key))
  const { days, from, to, tz } = value
  const isClock = [from, to].every((each) => each === undefined || parseClock(each) !== undefined || each === '24:00')
  const problems = [
    ...unknown.map((key) => `\`within\` has no key "${key}"; it has ${KEYS.join(', ')}.`),
    ...(days === undefined && from === undefined && to === undefined ? ['`within` needs days, or from and to.'] : []),
    ...(days !== undefined && !isDays(days) ? [`days is a list of ${DAYS.join(', ')}.`] : []),
    ...((from === undefined) !== (to === undefined) ? ['from and to go together.'] : []),
    ...(!isClock || from === '24:00' ? [CLOCK_PROBLEM] : []),
    ...(from !== undefined && from === to ? ['from and to are the same; leave both out for whole days.'] : []),
    ...(tz !== undefined && !(typeof tz === 'string' && isZone(tz))
      ? ['tz is not a time zone of the IANA database.']
      : []),
  ]
  return problems.length === 0 ? undefined : problems.join(' ')
}

/**
 * Tests a time in milliseconds since the epoch. `from` is included, `to` is not; where `to` is earlier than `from`, the
 * hours after midnight belong to the day before. Without `tz` the zone is UTC.
 * @param value a literal without problems
 */
export function withinTest(value: JsonValue): (moment: JsonValue) => boolean | undefined {
  const given = value as { days?: string[]; from?: string; to?: string; tz?: string }
  const allowed: readonly string[] = given.days ?? DAYS
  const days = new Set(DAYS.flatMap((name, day) => (allowed.includes(name) ? [day] : [])))
  const from = parseClock(given.from) ?? 0
  const to = parseClock(given.to) ?? MINUTES_A_DAY
  const local = localTime(given.tz ?? 'UTC')
  return (moment) => {
    if (typeof moment !== 'number') return undefined
    const { day, minute } = local(moment)
    if (from < to) return days.has(day) && minute >= from && minute < to
    if (minute >= from) return days.has(day)
    return minute < to && days.has((day + 6) % 7)
  }
}

const CLOCK_PROBLEM = 'from and to are written "HH:MM", from 00:00 to 23:59 (to: also "24:00").'

function isDays(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((day) => (DAYS as readonly JsonValue[]).includes(day))
}

function parseClock(value: JsonValue | undefined): number | undefined {
  const match = typeof value === 'string' ? CLOCK.exec(value) : null
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined
}

function isZone(zone: string): boolean {
  try {
    return zone !== '' && new Intl.DateTimeFormat('en-US', { timeZone: zone }) instanceof Intl.DateTimeFormat
  } catch {
    return false
  }
}

/** Day of the week (0 = Monday) and minute of the day in a zone. */
function localTime(zone: string): (moment: number) => { day: number; minute: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (moment) => {
    const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]))
    return {
      day: DAYS.findIndex((name) => name === part['weekday']?.toLowerCase()),
      minute: Number(part['hour']) * 60 + Number(part['minute']),
    }
  }
}
