import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareHalves, everyVerdictHolds, faultsOf, pairs, places } from './pairs.ts'

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
})

test('a denial in place of a question is proven no looser, as every call shows', () => {
  let denied = 0
  fc.assert(
    fc.property(pairs, places, fc.nat(7), ({ before }, drawn, which) => {
      const policies = before.policies.map((each, at) =>
        (which >> at) % 2 === 1 && (each.effect === 'require_approval' || each.effect === 'escalate')
          ? { ...each, effect: 'deny' as const }
          : each,
      )
      const pair = { before, after: { ...before, policies } }
      const authority = compareHalves(pair)
      expect(['equal', 'tightened']).toContain(authority.verdict)
      expect(faultsOf(pair, authority, drawn)).toEqual([])
      if (authority.verdict === 'tightened') denied++
    }),
    { numRuns: PAIRS / 2, endOnFailure: true },
  )
  expect(denied).toBeGreaterThan(PAIRS / 25)
})
