/** Intervals of rates, against a slow evaluator that inverts the test itself. */
import { expect, test } from 'vitest'
import { areApart, wilsonInterval } from '../../../src/cli/eval/wilson.ts'

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
