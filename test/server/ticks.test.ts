/** When a schedule is due where a clock changes, compared with a slow evaluator that looks at every minute. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextTick } from '../../src/server/runtime/ticks.ts'
import { cases } from '../cases.ts'

const MINUTE = 60_000

/** Some days around a change of the clock; another zone is one more line. */
const CHANGES: readonly (readonly [zone: string, day: string])[] = [
  ['Europe/Berlin', '2027-03-28'],
  ['Europe/Berlin', '2027-10-31'],
  ['America/New_York', '2027-03-14'],
  ['America/New_York', '2027-11-07'],
  ['America/Santiago', '2027-09-05'], // midnight is left out
  ['America/Santiago', '2027-04-04'],
  ['Australia/Lord_Howe', '2027-10-03'], // half an hour
  ['Australia/Lord_Howe', '2027-04-04'],
  ['Africa/Cairo', '2027-04-30'],
  ['Africa/Cairo', '2027-10-29'],
  ['Pacific/Apia', '2011-12-30'], // a whole day is left out
  ['Asia/Kathmandu', '2027-03-28'],
  ['UTC', '2027-03-28'],
]

const matchesField = (field: string, value: number): boolean =>
  field.split(',').some((part) => {
    const [range, step = '1'] = part.split('/') as [string, string?]
    const [from, to = from] = (range === '*' ? '0-59' : range!).split('-').map(Number) as [number, number?]
    return value >= from && value <= to && (value - from) % Number(step) === 0
  })

/** The time on the clock, as milliseconds of a clock of UTC. */
function clockOf(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  return (at) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`)
}

/** All ticks in `(from, to]`, from every minute that passes and every minute that a clock shows. */
function slowTicks(cron: string, zone: string, from: number, to: number): number[] {
  const [minutes, hours] = cron.split(' ') as [string, string]
  const clock = clockOf(zone)
  const isDue = (shown: number): boolean =>
    matchesField(minutes, new Date(shown).getUTCMinutes()) && matchesField(hours, new Date(shown).getUTCHours())
  const passing = Array.from({ length: (to - from) / MINUTE + 2881 }, (_, at) => from - 2880 * MINUTE + at * MINUTE)
  const ticks = new Set<number>()
  const isEveryHour = hours === '*' || hours === '0-23'
  if (isEveryHour) for (const at of passing) if (isDue(clock(at))) ticks.add(at)
  if (!isEveryHour) {
    const firstShown = new Map<number, number>()
    for (const at of passing) if (!firstShown.has(clock(at))) firstShown.set(clock(at), at)
    const last = clock(passing.at(-1)!)
    for (let shown = clock(passing[0]!); shown <= last; shown += MINUTE) {
      if (!isDue(shown)) continue
      // A time that is left out comes with the next one that is shown.
      let at = shown
      while (!firstShown.has(at)) at += MINUTE
      ticks.add(firstShown.get(at)!)
    }
  }
  return [...ticks].filter((at) => at > from && at <= to).sort((a, b) => a - b)
}

function ticks(cron: string, timeZone: string, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = nextTick({ cron, timeZone }, from); at <= to; at = nextTick({ cron, timeZone }, at)) found.push(at)
  return found
}

const fieldOf = (most: number) => {
  const value = fc.nat(most)
  return fc.oneof(
    value.map(String),
    fc.uniqueArray(value, { minLength: 2, maxLength: 4 }).map((all) => all.sort((a, b) => a - b).join(',')),
    fc.integer({ min: 2, max: most }).map((step) => `*/${step}`),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
  )
}
const crons = fc.tuple(fieldOf(59), fc.oneof(fieldOf(5), fieldOf(23), fc.constant('*'))).map((both) => both.join(' '))

describe('around a change of the clock', () => {
  test.each(CHANGES)('%s on %s: any schedule has the ticks that a slow evaluator finds', (zone, day) => {
    const from = Date.parse(`${day}T00:00Z`) - 1080 * MINUTE
    const to = from + 2160 * MINUTE
    fc.assert(
      fc.property(crons, fc.nat(180), (fields, late) => {
        const cron = `${fields} * * *`
        const start = from + late * MINUTE
        expect(ticks(cron, zone, start, to)).toEqual(slowTicks(fields, zone, start, to))
      }),
      { numRuns: cases(25) },
    )
  })

  test.each([
    ['0,30 2 * * *', '2027-03-28', ['01:00']],
    ['*/15 2 * * *', '2027-10-31', ['00:00', '00:15', '00:30', '00:45']],
    ['0 1,2,3 * * *', '2027-03-28', ['00:00', '01:00']],
    ['0 1,2,3 * * *', '2027-10-31', ['23:00', '00:00', '02:00']],
    ['0 */2 * * *', '2027-10-31', ['22:00', '00:00', '03:00']],
    ['30 * * * *', '2027-03-28', ['22:30', '23:30', '00:30', '01:30', '02:30']],
    ['30 * * * *', '2027-10-31', ['22:30', '23:30', '00:30', '01:30', '02:30']],
  ])('%s in Berlin on %s is due at %j', (cron, day, times) => {
    const to = Date.parse(`${day}T03:00Z`)
    const found = ticks(cron, 'Europe/Berlin', Date.parse(`${day}T00:00Z`) - 121 * MINUTE, to)
    expect(found.map((at) => new Date(at).toISOString().slice(11, 16))).toEqual(expect.arrayContaining(times))
    expect(found).toHaveLength(times.length)
  })

  test('from any moment the next tick is the first one after it', () => {
    const [from, to] = [Date.parse('2027-10-30T20:00Z'), Date.parse('2027-10-31T06:00Z')]
    fc.assert(
      fc.property(crons, fc.integer({ min: from, max: to }), (fields, since) => {
        const cron = `${fields} * * *`
        const all = slowTicks(fields, 'Europe/Berlin', from - 1440 * MINUTE, to + 2880 * MINUTE)
        expect(nextTick({ cron, timeZone: 'Europe/Berlin' }, since)).toBe(all.find((at) => at > since))
      }),
      { numRuns: cases(30) },
    )
  })
})

test('a schedule that never comes has no tick', () => {
  expect(nextTick({ cron: '0 0 30 2 *', timeZone: 'Europe/Berlin' }, 0)).toBe(Infinity)
})
