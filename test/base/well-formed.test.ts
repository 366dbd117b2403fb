import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wellFormedJson } from '../../src/base/json/well-formed.ts'

/** Any JSON, with halves of pairs in keys and texts. */
const values = fc.jsonValue({ stringUnit: 'binary' }).chain((value) =>
  fc.array(fc.constantFrom('\ud800', '\udfff', 'a'), { maxLength: 3 }).map((halves) => ({
    value,
    [halves.join('')]: [halves.join('x'), { deep: halves }],
  })),
)

test('makes every text of a value well-formed, and leaves a well-formed value as it is', () => {
  fc.assert(
    fc.property(values, (value) => {
      const made = wellFormedJson(value)
      // Slow and obvious: the bytes that any database or vendor would store.
      const stored: unknown = JSON.parse(
        JSON.stringify(value, (_, each: unknown) =>
          typeof each === 'object' && each !== null && !Array.isArray(each)
            ? Object.fromEntries(Object.entries(each).map(([key, member]) => [key.toWellFormed(), member]))
            : typeof each === 'string'
              ? each.toWellFormed()
              : each,
        ),
      )
      expect(JSON.stringify(made)).toBe(JSON.stringify(stored))
      expect(wellFormedJson(made)).toBe(made)
    }),
  )
})
