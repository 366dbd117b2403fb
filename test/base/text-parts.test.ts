import { expect, test } from 'vitest'
import { expectDefined } from '../../src/base/values/expect-defined.ts'
import { ownMember } from '../../src/base/json/own-member.ts'
import { codePointName, joinWords, textAfterLast, textBefore } from '../../src/base/text/text-parts.ts'

test('a text is cut at its first or last separator, and left whole without one', () => {
  expect([textBefore('a@b@c', '@'), textBefore('a', '@'), textBefore('@b', '@')]).toEqual(['a', 'a', ''])
  expect([textAfterLast('a.b.c', '.'), textAfterLast('a', '.'), textAfterLast('a.', '.')]).toEqual(['c', 'a', ''])
})

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a or b'],
  [['a', 'b', 'c'], 'a, b or c'],
])('%j is read as "%s"', (words, text) => {
  expect(joinWords(words, 'or')).toBe(text)
})

test('a character is named by its whole code point', () => {
  expect([codePointName('\u200b'), codePointName('😀')]).toEqual(['U+200B', 'U+1F600'])
})

test('a member that every object inherits is no member of a record', () => {
  const prices: Readonly<Record<string, number>> = { a: 1 }
  expect([ownMember(prices, 'a'), ownMember(prices, 'constructor')]).toEqual([1, undefined])
})

test('a value that is missing against all expectation is an error with the reason', () => {
  expect(expectDefined(0, 'there is a number')).toBe(0)
  expect(() => expectDefined(undefined, 'the list has items')).toThrow('Expected a value: the list has items.')
})
