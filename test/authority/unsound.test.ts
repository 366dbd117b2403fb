import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type * as Classes from '../../src/policy/prove/classes.ts'
import { mayBe } from '../../src/policy/prove/domains.ts'
import type * as Widenings from '../../src/authority/widening.ts'
import { everyVerdictHolds } from './pairs.ts'

const broken = vi.hoisted(() => ({ classes: false, widenings: false }))

/** Leaves out a class as soon as the schema refuses the one value that stands for it. */
vi.mock('../../src/policy/prove/classes.ts', async (load) => {
  const whole = await load<typeof Classes>()
  const classesOf: typeof whole.classesOf = (leaves, lists, domain, marks) =>
    whole
      .classesOf(leaves, lists, domain, marks)
      .filter((each) => !broken.classes || !('value' in each) || mayBe(domain, each.value))
  return { ...whole, classesOf }
})

/** Takes every call for one that was accepted before. */
vi.mock('../../src/authority/widening.ts', async (load) => {
  const whole = await load<typeof Widenings>()
  return {
    ...whole,
    wideningsOf: (...schemas: Parameters<typeof whole.wideningsOf>) =>
      broken.widenings ? [] : whole.wideningsOf(...schemas),
  }
})

afterEach(() => {
  broken.classes = broken.widenings = false
})

describe('the property of sound verdicts catches', () => {
  test.each<[string, keyof typeof broken]>([
    ['a class that goes with its sample', 'classes'],
    ['a wider schema that is not looked at', 'widenings'],
  ])('%s', (_, what) => {
    broken[what] = true
    const { failed, errorInstance } = fc.check(everyVerdictHolds(), { numRuns: 300, endOnFailure: true })
    expect(failed).toBe(true)
    expect(String(errorInstance)).toMatch(/, and (?:looser|stricter) for /)
  })
})
