import fc from 'fast-check'
import { expect, test } from 'vitest'
import { everyVerdictHolds } from './pairs.ts'

const PAIRS = 250

test('what is proven holds for every call, and every witness decides differently: random schemas and policies', () => {
  const seen = new Map<string, number>()
  const count = (key: string): unknown => seen.set(key, (seen.get(key) ?? 0) + 1)
  fc.assert(
    everyVerdictHolds((verdict, isNewWitness) => {
      count(verdict)
      if (isNewWitness) count('refused before')
    }),
    { numRuns: PAIRS, endOnFailure: true },
  )
  // Each verdict was met often enough to mean something.
  for (const verdict of ['equal', 'tightened', 'loosened', 'refused before'])
    expect([verdict, (seen.get(verdict) ?? 0) > PAIRS / 25]).toEqual([verdict, true])
}, 120_000)
