import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  canonicalJson,
  containsJson,
  findExceededBound,
  JsonBoundError,
  jsonDepth,
  parseJson,
  type JsonValue,
} from '../../src/base/json/json.ts'

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

test('JSON from outside has at most 100,000 values, however they are written', () => {
  const message = (text: string): string | undefined => {
    try {
      return findExceededBound(parseJson(text))
    } catch (error) {
      return error instanceof JsonBoundError ? error.message : String(error)
    }
  }
  for (const item of ['{}', '[ ]', '1', '",[,{"', 'null']) {
    const list = (count: number): string => `[${Array.from({ length: count }, () => item).join(' , ')}]`
    expect(message(list(99_999))).toBe(undefined)
    expect(message(list(100_000))).toBe('larger than 100,000 values (objects, lists, texts and numbers)')
  }
  const object = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"${n}":[1]`).join(',')}}`
  expect(message(object(49_999))).toBe(undefined)
  expect(message(object(50_000))).toBe('larger than 100,000 values (objects, lists, texts and numbers)')
})

test('the bound of the text and of the parsed value agree', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 0, max: 6 }),
      (value, maxValues, maxLevels) => {
        const bounds = { maxLevels, maxValues }
        let refused = false
        try {
          parseJson(JSON.stringify(value), bounds)
        } catch (error) {
          if (!(error instanceof JsonBoundError)) return
          refused = true
        }
        expect(refused).toBe(findExceededBound(value, bounds) !== undefined)
      },
    ),
  )
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
