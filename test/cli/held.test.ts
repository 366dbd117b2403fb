/** Runs that an outage holds, as the inbox and svc doctor tell of them. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail */
import { expect, test } from 'vitest'
import type { OperatorClient } from '../../src/client/operator.ts'
import { describeHeldRuns, readHeldRuns, timesFor } from '../../src/cli/runs/held.ts'
import { describeHold } from '../../src/spec/run/hold.ts'
import { formatMoment, timeOfDay } from '../../src/terminal/time.ts'

const at = (minute: number): string => `2026-11-23T09:0${minute}:00.000Z`

test('one entry per cause, with the number of runs, since when, and the next attempt of any; waits are left out', async () => {
  const holds = [
    { reason: 'provider_unreachable', since: at(2), nextAttemptAt: at(6) },
    undefined,
    { reason: 'timer', since: at(1), nextAttemptAt: at(9) },
    { reason: 'paused', since: at(1) },
    { reason: 'provider_unreachable', since: at(1) },
    { reason: 'secret_missing', since: at(3), nextAttemptAt: at(8) },
    { reason: 'provider_unreachable', since: at(3), nextAttemptAt: at(5) },
  ]
  // Two full pages of runs that work come first.
  const runs = [...Array.from({ length: 400 }, () => ({})), ...holds.map((hold) => ({ ...(hold && { hold }) }))]
  const call = (_: string, { query }: { query: Record<string, string> }) =>
    Promise.resolve({ items: runs.slice(Number(query['skip']), Number(query['skip']) + Number(query['take'])) })
  const held = await readHeldRuns({ call } as unknown as OperatorClient)
  expect(held).toEqual([
    { reason: 'provider_unreachable', runs: 3, since: at(1), nextAttemptAt: at(5) },
    { reason: 'secret_missing', runs: 1, since: at(3), nextAttemptAt: at(8) },
  ])
  expect(held.map((each) => describeHeldRuns(each))).toEqual([
    `3 runs held since ${at(1)}: the model cannot be reached; next attempt at ${at(5)}`,
    `1 run held since ${at(3)}: a secret is missing where the server runs (svc secrets check); next attempt at ${at(8)}`,
  ])
})

test('a person reads times by the clock, and the date where it is another day; a pipe gets them whole', () => {
  const clock = { now: () => Date.parse('2026-11-23T12:00:00Z') }
  const hold = {
    reason: 'provider_unreachable',
    runs: 2,
    since: '2026-11-20T12:00:00.000Z',
    nextAttemptAt: at(1),
  } as const
  expect(describeHold({ reason: 'timer', since: at(1), nextAttemptAt: at(9) })).toBe(
    `since ${at(1)}: it waits for a time; it continues at ${at(9)}`,
  )
  const onTerminal = timesFor({ isTTY: true }, clock)
  expect(describeHeldRuns(hold, timesFor({ isTTY: false }, clock))).toBe(describeHeldRuns(hold))
  expect(describeHeldRuns(hold, onTerminal)).toBe(
    `2 runs held since ${formatMoment(Date.parse(hold.since), clock.now())}: the model cannot be reached; next attempt at ${timeOfDay(Date.parse(at(1)))}`,
  )
  expect(formatMoment(Date.parse(hold.since), clock.now(), 60)).toBe('2026-11-20 13:00:00')
  expect(formatMoment(Date.parse('2026-11-22T23:30:00Z'), clock.now(), 60)).toBe('00:30:00')
})
