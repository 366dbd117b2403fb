/** Intervals of rates, against a slow evaluator that inverts the test itself. */
import { expect, test } from 'vitest'
import { areApart, clusteredInterval, wilsonInterval, type CaseSamples } from '../../../src/cli/eval/wilson.ts'

/** 97.5 % point of the normal distribution, found by integrating its density. */
function normalQuantile(): number {
  const density = (x: number): number => Math.exp(-(x ** 2) / 2) / Math.sqrt(2 * Math.PI)
  const steps = 400_000
  const width = 4 / steps
  let area = 0.5
  for (let at = 0; at < steps; at++) {
    area += (width / 6) * (density(at * width) + 4 * density((at + 0.5) * width) + density((at + 1) * width))
    if (area >= 0.975) return (at + 1) * width
  }
  throw new Error('the quantile is below 4')
}
const z = normalQuantile()

/** The rate at which the observed one is just `z` standard deviations away, by bisection between two rates. */
function rateAt(observed: number, trials: number, from: number, to: number): number {
  let [inside, outside] = [from, to]
  for (let step = 0; step < 200; step++) {
    const rate = (inside + outside) / 2
    const deviation = Math.abs(observed - rate) / Math.sqrt((rate * (1 - rate)) / trials)
    if (deviation <= z) inside = rate
    else outside = rate
  }
  return inside
}

test('an interval holds exactly the rates that a score test does not refuse', () => {
  for (const trials of [1, 2, 3, 5, 10, 37, 100, 1000, 10_000])
    for (let passed = 0; passed <= trials; passed += Math.max(1, Math.floor(trials / 23))) {
      const found = wilsonInterval(passed, trials)!
      const share = passed / trials
      const low = passed === 0 ? 0 : rateAt(share, trials, share, 0)
      const high = passed === trials ? 1 : rateAt(share, trials, share, 1)
      expect(found.share).toBe(share)
      expect(Math.abs(found.low - low), `low of ${passed} in ${trials}`).toBeLessThan(1e-4)
      expect(Math.abs(found.high - high), `high of ${passed} in ${trials}`).toBeLessThan(1e-4)
    }
})

test('the evaluator finds another interval wrong', () => {
  // Wald's: for 1 of 10 it reaches below zero.
  const wald = 0.1 - 1.96 * Math.sqrt(0.09 / 10)
  expect(Math.abs(wald - rateAt(0.1, 10, 0.1, 0))).toBeGreaterThan(0.05)
})

test('no trial has no interval', () => expect(wilsonInterval(0, 0)).toBeUndefined())

test.each([
  [10, 10, 0, 10, true],
  [9, 10, 7, 10, false],
  [900, 1000, 700, 1000, true],
])('%i of %i and %i of %i are apart: %s', (a, ofA, b, ofB, apart) => {
  const [one, other] = [wilsonInterval(a, ofA)!, wilsonInterval(b, ofB)!]
  expect([areApart(one, other), areApart(other, one)]).toEqual([apart, apart])
})

/** Numbers from 0 to 1, the same each time. */
function* numbers(): Generator<number, never> {
  for (let state = 1; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 2 ** 32
  }
}

/** How often the interval of an evaluation holds the true rate, which cases have on average. */
function coverage(
  cases: number,
  repeat: number,
  rateOf: (drawn: number) => number,
  intervalOf: (samples: readonly CaseSamples[]) => ReturnType<typeof wilsonInterval>,
): number {
  const drawn = numbers()
  const truth = Array.from({ length: 10_000 }, (_, at) => rateOf(at / 10_000)).reduce(
    (sum, rate) => sum + rate / 10_000,
    0,
  )
  const evaluations = 2000
  let held = 0
  for (let at = 0; at < evaluations; at++) {
    const samples = Array.from({ length: cases }, () => {
      const rate = rateOf(drawn.next().value)
      return {
        passed: Array.from({ length: repeat }, () => drawn.next().value < rate).filter(Boolean).length,
        trials: repeat,
      }
    })
    const { low, high } = intervalOf(samples)!
    if (low <= truth && truth <= high) held++
  }
  return held / evaluations
}
const ignoringCases = (samples: readonly CaseSamples[]) =>
  wilsonInterval(
    samples.reduce((sum, { passed }) => sum + passed, 0),
    samples.reduce((sum, { trials }) => sum + trials, 0),
  )
/** Half of the cases pass nearly always, the others rarely. */
const twoKinds = (drawn: number): number => (drawn < 0.5 ? 0.95 : 0.2)
const alike = (): number => 0.7

test.each([
  [5, 10, twoKinds],
  [10, 5, twoKinds],
  [30, 5, twoKinds],
  [30, 10, alike],
])('of %i cases, played %i times, an interval holds the rate as often as it says', (cases, repeat, rateOf) => {
  expect(coverage(cases, repeat, rateOf, clusteredInterval)).toBeGreaterThan(0.93)
})

test('an interval that takes the samples of a case for cases holds it far less often', () => {
  expect(coverage(30, 5, twoKinds, ignoringCases)).toBeLessThan(0.8)
})

test('samples of a case narrow its interval at most as much as so many cases, and never widen it', () => {
  const all = (cases: number, passed: number, trials: number) =>
    Array.from({ length: cases }, () => ({ passed, trials }))
  // Each case passes always or never: a second sample says nothing new.
  expect(clusteredInterval([...all(6, 5, 5), ...all(4, 0, 5)])).toEqual(wilsonInterval(6, 10))
  expect(clusteredInterval(all(10, 5, 5))).toEqual(wilsonInterval(10, 10))
  expect(clusteredInterval(all(1, 3, 5))).toEqual({ ...wilsonInterval(0.6, 1), share: 0.6 })
  // Cases that are all alike.
  expect(clusteredInterval(all(10, 1, 2))).toEqual(wilsonInterval(10, 20))
  expect(clusteredInterval([])).toBeUndefined()
})
