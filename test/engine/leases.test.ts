/**
 * Three processes over one store: they crash, freeze past their leases, lose hints and replies of commits, are slow, and their
 * clocks differ. Nothing happens twice, nothing is lost or stuck, and the log has no gap. `npm run simulate` lives as many
 * histories as one likes; here `SVC_CLUSTERS` sets their number, `SVC_CLUSTER_SEED` the first.
 */
import { expect, test, vi } from 'vitest'
import { liveTogether } from './cluster/cluster.ts'
import { findBrokenPromise } from './cluster/search.ts'
import { WEAKNESSES, type WeaknessName } from './cluster/weaknesses.ts'
import { cases } from '../cases.ts'

// Whether work took long depends on the machine, and would change the order of what follows.
vi.mock(import('../../src/base/event-loop.ts'), async (original) => ({
  ...(await original()),
  startWork: () => () => false,
}))

const HISTORIES = Number(process.env['SVC_CLUSTERS'] ?? cases(200))
const FIRST_SEED = Number(process.env['SVC_CLUSTER_SEED'] ?? 1)

test(
  `${HISTORIES} histories of three processes keep every promise`,
  async () => {
    const found = await findBrokenPromise({ first: FIRST_SEED, histories: HISTORIES })
    expect(found).toMatchObject({ done: HISTORIES, broken: [] })
  },
  60_000 + HISTORIES * 2000,
)

test('the same seed gives the same history', async () => {
  const [one, other] = [await liveTogether(FIRST_SEED + 4), await liveTogether(FIRST_SEED + 4)]
  expect(other.trace).toEqual(one.trace)
  expect(other.counts).toEqual(one.counts)
})

// Each search begins shortly before the first seed that shows the fault. The epoch has a test of its own.
test.each<[string, WeaknessName, number, RegExp]>([
  ['where requests leave without asking, a call is made twice', 'no guard', 425, /^doubled/],
  [
    'where requests leave without asking, the model is told that a call was not made',
    'no guard',
    145,
    /^told as not done/,
  ],
  [
    'where a process takes all work that there is, people are asked about calls under way',
    'old recovery',
    4,
    /^asked without need/,
  ],
  ['where processes decide by their own clocks, something happens before its time', 'own time', 1, /^too early/],
])('%s', async (_, weakness, first, broken) => {
  const found = await findBrokenPromise({ first, histories: 20, weakness: WEAKNESSES[weakness] })
  expect(found.broken[0]).toMatch(broken)
})
