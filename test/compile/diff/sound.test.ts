import fc from 'fast-check'
import { expect, test } from 'vitest'
import { everyVerdictHolds } from './pairs.ts'

const RUNS = Number(process.env['SVC_TEST_PAIRS'] ?? 400)
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 7)

test('what is proven holds for every call, and every witness decides differently: random schemas and policies', () => {
  const seen = new Map<string, number>()
  const count = (key: string): unknown => seen.set(key, (seen.get(key) ?? 0) + 1)
  fc.assert(
    everyVerdictHolds((verdict, isNewWitness) => {
      count(verdict)
      if (isNewWitness) count('refused before')
    }),
    { numRuns: RUNS, seed: SEED },
  )
  console.log(seen)
  // Each verdict was met often enough to mean something.
  for (const verdict of ['equal', 'tightened', 'loosened', 'refused before'])
    expect(seen.get(verdict)).toBeGreaterThan(RUNS / 20)
}, 600_000)
