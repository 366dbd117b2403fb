/**
 * Random histories: random agents call random tools, people answer at random, outcomes get lost, runs are cancelled and the
 * process crashes at random commits and sends. A history follows from its plan alone, so a failing one is shrunk and printed.
 */
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { checkHistory } from './histories/check.ts'
import { liveHistory } from './histories/live.ts'
import { anyPlan, refusalPlan } from './histories/plan.ts'
import { RARE, RARE_REFUSED } from './histories/rare.ts'
import { cases } from '../cases.ts'

// No work takes long: what gives way after a while would do so somewhere else on a busy machine.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const SCHEDULES = Number(process.env['SVC_SCHEDULES'] ?? cases(150))

test.each([
  ['random histories', anyPlan, RARE],
  ['histories in which a no ends a run', refusalPlan, RARE_REFUSED],
] as const)(
  `${SCHEDULES} %s keep every promise`,
  async (_, plans, rares) => {
    const met = new Set<string>()
    await fc.assert(
      fc.asyncProperty(plans, async (each) => {
        const { events, steps } = await checkHistory(await liveHistory(each))
        for (const rare of rares) if (rare.of(events, steps)) met.add(rare.name)
      }),
      { numRuns: SCHEDULES, endOnFailure: false },
    )
    expect([...met].toSorted()).toEqual(rares.map(({ name }) => name).toSorted())
  },
  60_000 + SCHEDULES * 500,
)

test('produces the same history from the same plan', async () => {
  const [each] = fc.sample(anyPlan, { numRuns: 20, seed: 7 }).filter(({ crashes }) => crashes.length > 1)
  const told = async (): Promise<readonly JsonObject[]> => {
    const { bench, session } = await liveHistory(each!)
    const events = await bench.store.events(session, 0, 10_000)
    await bench.engine.close(0)
    return events.map(({ ts, kind, subject, data }) => ({ ts, kind, subject, data }))
  }
  expect(await told()).toEqual(await told())
})
