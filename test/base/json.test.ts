import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, containsJson, jsonDepth, parseJson, type JsonValue } from '../../src/base/json.ts'

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

test.each<[JsonValue, JsonValue, boolean]>([
  [{ a: 1, b: { c: [1, 2], d: 0 } }, { b: { c: [1, 2] } }, true],
  [{ a: 1 }, {}, true],
  [{ a: [1, 2] }, { a: [1] }, false],
  [{ a: [{ b: 1, c: 2 }] }, { a: [{ b: 1 }] }, false],
  [{}, { toString: null }, false],
  [null, {}, false],
])('%j contains %j: %j', (value, wanted, contains) => {
  expect(containsJson(value, wanted)).toBe(contains)
})
