/** What the random histories of `simulator.test.ts` find where something is wrong: each must break a promise. */
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { checkHistory } from './histories/check.ts'
import type { Weakness } from './histories/agents.ts'
import { liveHistory } from './histories/live.ts'
import { anyPlan, CLASSES, type HistoryPlan } from './histories/plan.ts'

// As in `simulator.test.ts`.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const UNDONE_TWICE: HistoryPlan['root'] = [[{ name: 'post', again: false, takes: 0, outcome: 'lost' }]]
const moved: HistoryPlan['acts'] = [{ round: 1, turn: 0, act: 'migrate' }]

test.each<[string, fc.Arbitrary<HistoryPlan>, Weakness]>([
  [
    'tools declare themselves safer than they are',
    anyPlan,
    { classes: { ...CLASSES, post: 'read_only', stamp: 'read_only' } },
  ],
  [
    'what undoes a call declares that it only reads',
    anyPlan.map((each) => ({ ...each, root: UNDONE_TWICE, undoes: 2 })),
    { classes: { ...CLASSES, unpost: 'read_only' } },
  ],
  ['the engine does not know what is paused', anyPlan, { isBlind: true }],
  [
    'calls are decided by the version from which their run was moved',
    anyPlan.map((each) => ({ ...each, acts: [...each.acts, ...moved] })),
    { isLax: true },
  ],
])(
  'breaks a promise in some history if %s',
  async (_, plans, weakness) => {
    await expect(
      fc.assert(
        fc.asyncProperty(plans, async (each) => void (await checkHistory(await liveHistory(each, weakness)))),
        { numRuns: 200, endOnFailure: true },
      ),
    ).rejects.toThrow('Property failed')
  },
  120_000,
)
