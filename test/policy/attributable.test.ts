/**
 * Where a value occurs in what was handed over, against an evaluator that reads like the page.
 * Source: docs/design/policies.md#where-a-value-comes-from
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, type JsonValue } from '../../src/base/json/json.ts'
import {
  findValue,
  newDecisionBudget,
  newSearchBudget,
  SearchExhausted,
} from '../../src/policy/condition/attributable.ts'
import { cases } from '../cases.ts'

/** "No letter or digit stands beside it, and no sign that joins it to one." */
const isToken = (text: string, token: string): boolean =>
  Array.from({ length: text.length }, (_, at) => at).some(
    (at) =>
      text.startsWith(token, at) &&
      !/[\p{L}\p{N}\p{M}][@._+\-/:]*$/u.test(text.slice(0, at)) &&
      !/^[@._+\-/:]*[\p{L}\p{N}\p{M}]/u.test(text.slice(at + token.length)),
  )

const letters = fc.constantFrom('a', 'b', '1', '-', '.', '@', ' ', '"', 'é', '𝒳', '́')
const textOf = (most: number) => fc.array(letters, { maxLength: most }).map((each) => each.join(''))

test('a text is found as a token where the page says so', () => {
  let found = 0
  fc.assert(
    fc.property(
      textOf(14),
      fc.array(textOf(6), { maxLength: 4 }),
      fc.integer({ min: 1, max: 8 }),
      (token, parts, times) => {
        // Longer than what is looked for first, and full of repetitions.
        const sought = token.repeat(times)
        fc.pre(sought !== '')
        const text = parts.join(sought)
        const { isToken: isFound } = findValue(sought, [text, 'x'], newSearchBudget())
        expect(isFound).toBe(text !== sought && isToken(text, sought))
        if (isFound) found++
      },
    ),
    { numRuns: cases(3000) },
  )
  expect(found).toBeGreaterThan(cases(100))
})

test('a value of parts is found where one has the same canonical text', () => {
  const small = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>
  fc.assert(
    fc.property(
      fc.oneof(fc.array(small, { maxLength: 2 }), fc.dictionary(fc.constantFrom('a', 'b'), small)),
      fc.array(small),
      (sought, others) => {
        const contains = (value: JsonValue): boolean =>
          canonicalJson(value) === canonicalJson(sought) ||
          (typeof value === 'object' && value !== null && Object.values(value).some(contains))
        for (const within of [others, [...others, sought], { x: { y: sought } }] as JsonValue[])
          expect(findValue(sought, within, newSearchBudget()).isWhole).toBe(contains(within))
      },
    ),
  )
})

/** Texts and lists that are alike in all but the end: a model names the value, a mail the content. */
const alike = (end: string): JsonValue => [...Array<JsonValue>(20_000).fill('v'), end]
let nested: JsonValue = ['x'.repeat(100)]
for (let depth = 0; depth < 250; depth++) nested = [nested]
const HOSTILE: readonly (readonly [string, JsonValue, JsonValue])[] = [
  ['signs that join', '----', `a${'-'.repeat(1_000_000)}a`],
  ['a letter', 'aaaa', 'a'.repeat(4_000_000)],
  ['a long token that differs in its middle', `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`, 'a'.repeat(2_000_000)],
  ['lists in lists', [['longer text']], Array.from({ length: 300 }, () => nested)],
  ['lists that differ at their end', alike('zzzz1'), Array.from({ length: 8 }, () => alike('zzzz2'))],
]

function isWholeIn(sought: JsonValue, within: JsonValue): boolean | 'unknown' {
  try {
    return findValue(sought, within, newSearchBudget()).isWhole
  } catch (error) {
    if (error instanceof SearchExhausted) return 'unknown'
    throw error
  }
}

test.each(HOSTILE)('a search for %s ends soon', (_, sought, within) => {
  const before = process.cpuUsage()
  // Where the search is given up nobody can tell any more, which never counts in favour of the call.
  expect([false, 'unknown']).toContain(isWholeIn(sought, within))
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(1000)
})

test('the searches of one decision end soon together', () => {
  const decision = newDecisionBudget()
  const mail = 'lorem ipsum '.repeat(80_000)
  const before = process.cpuUsage()
  const search = (): void => {
    for (let at = 0; at < 1000; at++) findValue(`recipient-${at}@example.com`, mail, newSearchBudget(decision))
  }
  expect(search).toThrow(SearchExhausted)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(1000)
})
