import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, jsonDepth, parseJson } from '../../src/base/json.ts'

test('canonical text sorts keys, prints numbers as ECMAScript does and has no space', () => {
  // The example of RFC 8785, section 3.2.3, less its control characters.
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    literals: [null, true, false],
    '€': 'Euro',
    '1': 'One',
    '😂': 'Smiley',
    ö: 'o',
  }
  expect(canonicalJson(value)).toBe(
    '{"1":"One","literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"ö":"o","€":"Euro","😂":"Smiley"}',
  )
})

test('canonical text does not depend on the order in which keys were written', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse())
      expect(canonicalJson(reversed)).toBe(canonicalJson(value))
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('refuses what JSON cannot say', () => {
  expect(() => canonicalJson(Number.NaN)).toThrow('NaN is no JSON number.')
  expect(() => canonicalJson({ a: () => 1 })).toThrow('A function is no JSON value.')
})

test.each([
  ['1', 0],
  ['[]', 1],
  ['{"a":[{"b":1}]}', 3],
  ['"[[[["', 0],
  [String.raw`"\"[["`, 0],
  ['['.repeat(200_000), 200_000],
])('depth of %.20s is %i', (text, depth) => {
  expect(jsonDepth(text)).toBe(depth)
})

test('JSON from outside has at most 256 levels', () => {
  const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`
  expect(JSON.stringify(parseJson(nested(256)))).toBe(nested(256))
  expect(() => parseJson(nested(258))).toThrow(new SyntaxError('nested deeper than 256 levels'))
  expect(() => parseJson(nested(400_000))).toThrow(new SyntaxError('nested deeper than 256 levels'))
})

test('canonical text is that of the definition, whatever the order and kind of the keys', () => {
  /** RFC 8785 as its section 3.2 says it, in no way fast. */
  const defined = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(defined).join(',')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const members = value as Record<string, unknown>
    const keys = Object.keys(members).sort()
    return `{${keys.map((key) => `${JSON.stringify(key)}:${defined(members[key])}`).join(',')}}`
  }
  const key = fc.oneof(fc.string(), fc.constantFrom('10', '9', '1', '__proto__', 'b', 'a', 'toJSON', '\ud800'))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.array(tie('value')), fc.dictionary(key, tie('value'))),
  }))
  fc.assert(
    fc.property(value, (each) => {
      expect(canonicalJson(each)).toBe(defined(each))
    }),
  )
})

test('canonical text leaves out what is undefined, and asks no object for its own text', () => {
  expect(canonicalJson({ b: undefined, a: [undefined, 1] })).toBe('{"a":[null,1]}')
  expect(canonicalJson({ at: new Date(0) })).toBe('{"at":{}}')
  expect(() => canonicalJson({ toJSON: () => 1 })).toThrow('A function is no JSON value.')
})

test('canonical text of a deep value takes no longer than its size asks for', () => {
  const deep = '{"b":'.repeat(200) + '1' + ',"a":1}'.repeat(200)
  expect(canonicalJson(JSON.parse(deep))).toBe('{"a":1,"b":'.repeat(200) + '1' + '}'.repeat(200))
})
