import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import { readCondition, writeCondition } from '../../src/policy/condition/condition.ts'
import { readWhen } from '../../src/policy/condition/when.ts'
import { cases } from '../cases.ts'

const treeOf = (value: JsonValue): unknown => {
  const { condition, problems } = readCondition(value)
  return condition ? writeCondition(condition) : problems
}

describe('a condition on one line is the tree that it stands for', () => {
  test.each<[string, JsonValue]>([
    ['args.amount > 100', { field: 'args.amount', op: 'gt', value: 100 }],
    [
      'args.amount > 100 and args.country != "DE"',
      {
        all: [
          { field: 'args.amount', op: 'gt', value: 100 },
          { field: 'args.country', op: 'ne', value: 'DE' },
        ],
      },
    ],
    [
      'a == 1 or not b == true and c exists',
      {
        any: [{ field: 'a', value: 1 }, { all: [{ not: { field: 'b', value: true } }, { field: 'c', op: 'exists' }] }],
      },
    ],
    [
      '(a == 1 or b == 2) and c == null',
      {
        all: [
          {
            any: [
              { field: 'a', value: 1 },
              { field: 'b', value: 2 },
            ],
          },
          { field: 'c', value: null },
        ],
      },
    ],
    ['((a == -1.5e3))', { field: 'a', value: -1500 }],
    ['args["odd key"].x not in ["a \\"b\\"", 2]', { field: 'args["odd key"].x', op: 'not_in', value: ['a "b"', 2] }],
    ['lower(args.name) starts_with "x" ', { field: 'lower(args.name)', op: 'starts_with', value: 'x' }],
    [
      'history.run.this_tool.total(args.amount) >= 5',
      { field: 'history.run.this_tool.total(args.amount)', op: 'gte', value: 5 },
    ],
    [
      'args.ip cidr ["10.0.0.0/8"]\n and v semver "^1"',
      {
        all: [
          { field: 'args.ip', op: 'cidr', value: ['10.0.0.0/8'] },
          { field: 'v', op: 'semver', value: '^1' },
        ],
      },
    ],
    [
      'x matches "^DE$" and y type "string"',
      {
        all: [
          { field: 'x', op: 'matches', value: '^DE$' },
          { field: 'y', op: 'type', value: 'string' },
        ],
      },
    ],
  ])('%s', (text, tree) => {
    expect(treeOf({ when: text })).toEqual(treeOf(tree))
  })
})

describe('what cannot be read is told at its place', () => {
  test.each<[string, string, string]>([
    [
      'args.amount > ',
      '/when@14:14',
      'Expected a number, a text in double quotes, true, false, null or a list; the text ends here.',
    ],
    ['args.country == DE', '/when@16:18', 'Put text in double quotes: "DE".'],
    ['a = 1', '/when@2:3', 'Write `==` to compare.'],
    ['a == 1 b == 2', '/when@7:8', 'Expected `and`, `or` or the end; there is "b".'],
    ['(a == 1', '/when@7:7', 'Expected `)`; the text ends here.'],
    [
      'a == "x',
      '/when@5:6',
      'Expected a number, a text in double quotes, true, false, null or a list; there is "\\"".',
    ],
    ['', '/when@0:0', 'Expected a path such as args.amount; the text ends here.'],
    [
      'run.dpth > 1',
      '/when@0:12/field',
      'run has no field "dpth"; it has depth, is_subagent, iteration, elapsed_seconds, tokens_used, trigger_type, taint.',
    ],
    ['a > "5"', '/when@0:7/value', '`gt` compares numbers; its value is string "5".'],
  ])('%s', (text, pointer, message) => {
    expect(readCondition({ when: text }).problems.map((each) => [each.pointer, each.message])).toEqual([
      [pointer, message],
    ])
  })

  test('beside other keys, or as no text', () => {
    expect(readCondition({ when: 'a == 1', field: 'b' }).problems).toMatchObject([{ pointer: '' }])
    expect(readCondition({ when: 5 }).problems).toMatchObject([{ pointer: '/when', code: 'syntax' }])
  })

  test('beyond the bounds of what is written out', () => {
    const many = (count: number, word: string): string => Array.from({ length: count }, () => 'a == 1').join(word)
    expect(readCondition({ when: many(65, ' and ') }).problems).toMatchObject([{ code: 'cost' }])
    expect(readCondition({ when: `${'not '.repeat(8)}a == 1` }).problems).toMatchObject([{ code: 'cost' }])
    expect(readCondition({ when: `${'('.repeat(5000)}a == 1` }).problems).toMatchObject([{ code: 'syntax' }])
    expect(readCondition({ when: ' '.repeat(9000) }).problems).toMatchObject([{ code: 'syntax' }])
  })
})

test('any text is read or refused, and what is told lies within it', () => {
  const words = fc.constantFrom(
    'a',
    'args.b',
    '==',
    '!=',
    '>',
    'and',
    'or',
    'not',
    'in',
    '(',
    ')',
    '[',
    ']',
    ',',
    '"x"',
    '1',
    'true',
    'exists',
    '"',
    '.',
    '=',
    '😀',
    'lower(a)',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 12 }), fc.constantFrom('', ' '), (parts, space) => {
      const text = parts.join(space)
      const read = readWhen(text)
      if ('node' in read) return
      expect([read.range.start <= read.range.end, read.range.end <= text.length]).toEqual([true, true])
    }),
    { numRuns: cases(2000) },
  )
})
