import fc from 'fast-check'
import { parse, satisfies, validRange } from 'semver'
import { expect, test } from 'vitest'
import { fitsRange, isVersionRange } from '../../src/documents/text/reference.ts'

/** Most are numbers of which there are few, so that many versions are in many ranges. */
const number = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('0', '1', '2') },
  { weight: 1, arbitrary: fc.constantFrom('10', '01', '999999999', '9007199254740993', 'x', '') },
)
const label = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('-rc.1', '+build', '-0', '.1', ' ') },
)
const numbers = fc
  .constantFrom(3, 3, 3, 2, 1, 4)
  .chain((length) => fc.array(number, { minLength: length, maxLength: length }))
  .map((all) => all.join('.'))
const text = fc.tuple(fc.constantFrom('', '^', '^', '^', '~', '>=', '^ ', 'v', '^v'), numbers, label)
const range = text.map((parts) => parts.join(''))
const version = fc.tuple(numbers, label).map((parts) => parts.join(''))

test('a range takes what it takes by the rules of semver, however it is written', () => {
  let taken = 0
  fc.assert(
    fc.property(range, version, (wanted, offered) => {
      const known = wanted.trim() !== '' && validRange(wanted) !== null
      expect(isVersionRange(wanted)).toBe(known)
      const fit = known && parse(offered) !== null && satisfies(offered, wanted)
      expect(fitsRange(offered, wanted)).toBe(fit)
      if (fit) taken++
    }),
    { numRuns: 5000 },
  )
  expect(taken).toBeGreaterThan(100)
})
