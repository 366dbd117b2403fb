import '../long-lived.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { completeJson } from '../../src/base/json/json-beginning.ts'

/** True if `part` has nothing that `whole` does not have, with texts and lists that may end earlier. */
const isBeginning = (part: unknown, whole: unknown): boolean => {
  if (typeof part === 'string' && typeof whole === 'string') return whole.startsWith(part)
  if (typeof part !== 'object' || part === null || typeof whole !== 'object' || whole === null)
    return Object.is(part, whole)
  return Object.entries(part).every(
    ([key, each]) => Object.hasOwn(whole, key) && isBeginning(each, (whole as Record<string, unknown>)[key]),
  )
}

test('every beginning of a JSON object is completed to a value that has nothing else', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), fc.boolean(), (value, cut, spaced) => {
      const text = JSON.stringify(value, null, spaced ? 1 : undefined)
      const whole = JSON.parse(text) as unknown
      const completed = completeJson(text.slice(0, 1 + (cut % text.length)))
      expect(isBeginning(JSON.parse(completed!), whole)).toBe(true)
    }),
  )
})

test('a whole text stays what it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      expect(completeJson(JSON.stringify(value))).toBe(JSON.stringify(value))
    }),
  )
})

test.each<[string, string | undefined]>([
  ['{"a":"one \\', '{"a":"one "}'],
  ['{"a":"one \\u00', '{"a":"one "}'],
  ['{"a":"\\ud83d', '{"a":""}'],
  ['{"a":"\\ud83d\\ude', '{"a":""}'],
  ['{"a":"x\\ud83d\\ude00', '{"a":"x\\ud83d\\ude00"}'],
  ['{"a":"\\\\ud83d', '{"a":"\\\\ud83d"}'],
  ['{"a":12', '{}'],
  ['{"a":12,"b', '{"a":12}'],
  ['[[1],[2', '[[1],[]]'],
  ['', undefined],
  ['12', undefined],
  ['['.repeat(300), '['.repeat(256) + ']'.repeat(256)],
])('%j', (beginning, completed) => {
  expect(completeJson(beginning)).toBe(completed)
})

test.each([
  ['letters', 'x'],
  ['escapes', '\\n'],
  ['escapes of code points', '\\u00e9'],
])('megabytes of %s are kept', (_, part) => {
  const beginning = `{"a":"${part.repeat(4_000_000)}`
  expect(completeJson(beginning) === `${beginning}"}`).toBe(true)
})
