import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { patternGrowth } from '../../src/base/pattern/pattern-growth.ts'
import { parsePattern, type PatternNode } from '../../src/base/pattern/pattern-syntax.ts'

describe('exponential', () => {
  test.each([
    '^(a+)+$',
    '(a+)+$',
    '^(a|a)*$',
    '(a|aa)+$',
    '(x+x+)+y',
    String.raw`^(\w+\s?)*$`,
    '(.*a){12}',
    '^([a-z]+)+$',
    '^([a-z]+[0-9]?)*$',
    '^(a*)*$',
    '^(a*)+$',
    '^((a|b)*|c)*$',
    String.raw`^(\d|\w)+$`,
    '^((a?|b?)c)*d$',
    '^([a-z]{1,20}){1,20}$',
    '^(?:[^,]+,?)*$',
    String.raw`^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$`,
    String.raw`^(?=(a+)+$)a`,
    String.raw`^(é+)+$`,
  ])('%s', (pattern) => {
    expect(patternGrowth(pattern).degree).toBe(Infinity)
  })
})

describe('polynomial', () => {
  test.each([
    ['^a*a*$', 2],
    ['^a*a*a*$', 3],
    ['^.*,.*,.*$', 3],
    [String.raw`^[^@\s]+@[^@\s]+\.[^@\s]+$`, 2],
    [String.raw`\d+$`, 2],
    [String.raw`\s+$`, 2],
    ['a+b', 2],
    ['^(?:a|b*c)(?:b|c)*b*$', 2],
  ])('%s', (pattern, degree) => {
    expect(patternGrowth(pattern).degree).toBe(degree)
  })
})

describe('linear', () => {
  test.each([
    '',
    '^$',
    'a',
    '^[a-z]+$',
    '[a-z]+',
    String.raw`\S`,
    String.raw`\S+`,
    String.raw`^A-\d+$`,
    String.raw`^\d{4}-\d{2}-\d{2}$`,
    '^[a-z]+(-[a-z]+)*$',
    '^[a-z]+:[a-z]+$',
    String.raw`^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$`,
    '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$',
    String.raw`^(\d{1,3}\.){3}\d{1,3}$`,
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    '^https://[a-z.]+/',
    String.raw`^\+?[1-9]\d{1,14}$`,
    String.raw`^-?\d+(\.\d{1,2})?$`,
    '^(EUR|USD|GBP)$',
    '^(?=.*[A-Z])(?=.*[0-9]).{8,}$',
    String.raw`^\p{L}+( \p{L}+)*$`,
    '^[^,]+(,[^,]+)*$',
    '^sku-[a-z0-9]{1,64}$',
    '^(a{0,8}b){2}$',
  ])('%s', (pattern) => {
    expect(patternGrowth(pattern).degree).toBe(1)
  })
})

test('a pattern that ends reads no further', () => {
  expect(patternGrowth('^[a-z]{1,64}[a-z0-9]{1,64}$')).toEqual({ degree: 2, reach: 128 })
})

test.each([
  ['an invalid pattern', '('],
  ['one that refers back', String.raw`^(a+)\1$`],
  ['a very long one', 'a'.repeat(5000)],
])('nothing is said of %s', (_, pattern) => {
  expect(patternGrowth(pattern)).toEqual({ degree: undefined, reach: Infinity })
})

/** Counts the steps of a matcher that tries one way after the other, as engines do; stops at `most`. */
function stepsOf(tree: PatternNode, text: string, most: number): number {
  let steps = 0
  type Then = (at: number) => boolean
  const run = (node: PatternNode, at: number, then: Then): boolean => {
    if (++steps > most) throw new RangeError('enough')
    switch (node.at) {
      case 'atom':
        return at < text.length && new RegExp(`^(?:${node.source})$`, 'u').test(text[at]!) && then(at + 1)
      case 'start':
        return at === 0 && then(at)
      case 'end':
        return at === text.length && then(at)
      case 'choice':
        return node.parts.some((part) => run(part, at, then))
      case 'sequence': {
        const from = (index: number, here: number): boolean =>
          index === node.parts.length ? then(here) : run(node.parts[index]!, here, (next) => from(index + 1, next))
        return from(0, at)
      }
      case 'repeat': {
        const again = (count: number, here: number): boolean =>
          (count < node.max &&
            run(node.part, here, (next) => (next > here || count < node.min) && again(count + 1, next))) ||
          (count >= node.min && then(here))
        return again(0, at)
      }
      case 'look':
        throw new Error('not generated')
    }
  }
  try {
    for (let at = 0; at <= text.length; at++) if (run(tree, at, () => true)) break
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return steps
}

const atom = fc.constantFrom('a', 'b', '[ab]', '.')
const { pattern: random } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}'))
      .map(([each, often]) => `(${each})${often}`),
    fc.tuple(atom, fc.constantFrom('*', '+', '?')).map(([each, often]) => each + often),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(${one}|${other})`),
  ),
  pattern: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
}))

test('a pattern that is called linear is linear, whatever a text repeats', () => {
  let linear = 0
  fc.assert(
    fc.property(
      fc.tuple(fc.constantFrom('', '^'), random, fc.constantFrom('', '$')).map((parts) => parts.join('')),
      (pattern) => {
        if (patternGrowth(pattern).degree !== 1) return
        linear++
        const tree = parsePattern(pattern)!
        for (const head of ['', 'a', 'b'])
          for (const pump of ['a', 'b', 'ab', 'aab', 'abb'])
            for (const tail of ['!', '\n']) {
              const [short, long] = [60, 120].map((times) => stepsOf(tree, head + pump.repeat(times) + tail, 1e5))
              expect(long! / short!).toBeLessThan(2.9)
            }
      },
    ),
    { numRuns: 1000 },
  )
  expect(linear).toBeGreaterThan(200)
})
