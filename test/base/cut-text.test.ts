import fc from 'fast-check'
import { expect, expectTypeOf, test } from 'vitest'
import { cutText, shortenText } from '../../src/base/text/cut-text.ts'

/** Any sequence of UTF-16 code units, many of them halves of pairs. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 3 }),
      fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom('😀', '👩‍👩‍👧', 'é'),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test.each(['start', 'end'] as const)(
  'the %s of any text is well-formed, within the limit, and accounts for all',
  (keep) => {
    fc.assert(
      fc.property(anyText, fc.nat(30), (text, most) => {
        const { text: kept, cut } = cutText(text, most, keep)
        expect(kept.isWellFormed()).toBe(true)
        expect(kept.length).toBeLessThanOrEqual(most)
        expect(kept.length + cut).toBe(text.length)
        // What is kept is the text itself, but for halves that it already had.
        const whole = text.toWellFormed()
        const same = keep === 'start' ? whole.slice(0, kept.length) : whole.slice(whole.length - kept.length)
        expect(kept).toBe(same)
        // At most the other half of one pair is lost to the limit.
        expect(Math.min(most, text.length) - kept.length).toBeLessThanOrEqual(1)
      }),
    )
  },
)

test('a pair at the limit is left out, at either end', () => {
  expect(cutText('ab😀cd', 3)).toEqual({ text: 'ab', cut: 4 })
  expect(cutText('ab😀cd', 4)).toEqual({ text: 'ab😀', cut: 2 })
  expect(cutText('ab😀cd', 3, 'end')).toEqual({ text: 'cd', cut: 4 })
  expect(cutText('a\ud83d', 5)).toEqual({ text: 'a\ufffd', cut: 0 })
})

test('a mark says that text was left out, and how much', () => {
  expect(shortenText('abcdef', 6)).toBe('abcdef')
  expect(shortenText('abcdef', 3)).toBe('abc…')
  expect(shortenText('ab😀cd', 3, (cut) => ` [${cut} characters more]`)).toBe('ab [4 characters more]')
})

test('the linter refuses a slice from the start to a fixed end, but not short ones or other ends', () => {
  expectTypeOf<FixedTextEnd<25>>().toEqualTypeOf<25>()
  expectTypeOf<FixedTextEnd<2000>>().toEqualTypeOf<2000>()
  for (const short of [24, 9, -1] as const) expectTypeOf<FixedTextEnd<typeof short>>().toEqualTypeOf<never>()
  expectTypeOf<FixedTextEnd<number>>().toEqualTypeOf<never>()
})
