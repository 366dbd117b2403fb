import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { readCondition, type Condition } from '../../src/policy/condition/condition.ts'
import type { ConditionOperator } from '../../src/policy/condition/operators.ts'
import type { CallFacts } from '../../src/policy/condition/decision.ts'
import { evaluateCondition } from '../../src/policy/condition/evaluate.ts'
import { isAlwaysTrue, conditionImplies, isSatisfiable } from '../../src/policy/prove/conditions.ts'
import { possibleValuesUnder, type PossibleValuesAt } from '../../src/policy/prove/possible-values.ts'

const read = (value: JsonValue): Condition => readCondition(value).condition!
const under = (schema: JsonObject): PossibleValuesAt => possibleValuesUnder(schema)
const amount = (property: JsonObject, required = true): PossibleValuesAt =>
  under({ type: 'object', properties: { amount: property }, ...(required && { required: ['amount'] }) })
const leaf = (op: string, value: JsonValue): JsonValue => ({ field: 'args.amount', op, value })

describe('no call makes true', () => {
  test.each<[string, JsonValue, JsonObject]>([
    ['a number above its maximum', leaf('gt', 500), { type: 'number', maximum: 500 }],
    ['a number at an open bound', leaf('gte', 500), { type: 'number', exclusiveMaximum: 500 }],
    ['an integer between two integers', { all: [leaf('gt', 4), leaf('lt', 5)] }, { type: 'integer' }],
    ['a value that is not listed', leaf('in', ['GBP']), { enum: ['USD', 'CAD'] }],
    ['a text that no listed value begins with', leaf('starts_with', 'G'), { enum: ['USD', 'CAD'] }],
    ['neither of the two', { all: [leaf('ne', true), leaf('ne', false)] }, { type: 'boolean' }],
    ['the opposite of always', { not: leaf('gte', 0) }, { type: 'number', minimum: 0 }],
    ['absence of what is required', leaf('exists', false), { type: 'number' }],
  ])('%s', (_, condition, property) => {
    expect(isSatisfiable(read(condition), amount(property))).toBe(false)
  })
})

describe('some call may make true', () => {
  test.each<[string, JsonValue, JsonObject]>([
    ['a number within its bounds', leaf('gt', 499), { type: 'number', maximum: 500 }],
    ['a fraction between two integers', { all: [leaf('gt', 4), leaf('lt', 5)] }, { type: 'number' }],
    ['one of two lists', { any: [leaf('eq', 'GBP'), leaf('eq', 'USD')] }, { enum: ['USD'] }],
    ['what nothing is known about', leaf('matches', '^x'), {}],
  ])('%s', (_, condition, property) => {
    expect(isSatisfiable(read(condition), amount(property))).toBe(true)
  })
})

test.each<[ConditionOperator, JsonValue, string?]>([
  ['eq', { a: 1 }],
  ['ne', null],
  ['gt', 9007199254740991],
  ['gte', 0],
  ['lt', -9007199254740991],
  ['lte', 0],
  ['in', [null, -0]],
  ['not_in', ['a', 1]],
  ['contains', ''],
  ['starts_with', ''],
  ['ends_with', 'x'],
  ['matches', '^$'],
  ['exists', true],
  ['type', ['string', 'null']],
  ['cidr', '10.0.0.0/8'],
  ['semver', '^1.0.0'],
  ['within', { days: ['mon'], from: '08:00', to: '18:00', tz: 'Europe/Berlin' }, 'time.now'],
])('one comparison by itself, here `%s`, is no contradiction, nor is its opposite', (op, value, field = 'args.a') => {
  const written = { field, op, value }
  expect([isSatisfiable(read(written)), isSatisfiable(read({ not: written }))]).toEqual([true, true])
})

test('what cannot be in the first way may be in another', () => {
  const never = { all: [leaf('gt', 5), leaf('lt', 4)] }
  const either = { all: [{ any: [never, leaf('eq', 7)] }, leaf('gt', 6)] }
  expect(isSatisfiable(read(either))).toBe(true)
  expect(isSatisfiable(read(either), amount({ type: 'number', maximum: 6 }))).toBe(false)
  expect(isAlwaysTrue(read({ any: [leaf('gte', 0), never] }), amount({ type: 'number', minimum: 0 }))).toBe(true)
  expect(isAlwaysTrue(read({ all: [leaf('gte', 0), leaf('gte', 1)] }), amount({ type: 'number', minimum: 0 }))).toBe(
    false,
  )
})

describe('always true', () => {
  test('is what every call fulfils', () => {
    expect(isAlwaysTrue(read(leaf('gte', 0)), amount({ type: 'number', minimum: 0 }))).toBe(true)
    expect(isAlwaysTrue(read(leaf('in', ['USD', 'CAD'])), amount({ enum: ['USD'] }))).toBe(true)
  })

  test('is nothing that absence, another type or another value makes otherwise', () => {
    expect(isAlwaysTrue(read(leaf('gte', 0)), amount({ type: 'number', minimum: 0 }, false))).toBe(false)
    expect(isAlwaysTrue(read(leaf('gte', 0)), amount({ type: ['number', 'null'], minimum: 0 }))).toBe(false)
    expect(isAlwaysTrue(read(leaf('gt', 0)), amount({ type: 'number', minimum: 0 }))).toBe(false)
  })
})

test('a bound implies a wider one, and not the other way round', () => {
  expect(conditionImplies(read(leaf('gt', 900)), read(leaf('gt', 500)))).toBe(true)
  expect(conditionImplies(read(leaf('gt', 500)), read(leaf('gt', 900)))).toBe(false)
  expect(conditionImplies(read(leaf('eq', 'a')), read(leaf('in', ['a', 'b'])))).toBe(true)
})

const values: readonly JsonValue[] = [-1, 0, 1, 2, 3, 2.5, 'a', 'b', true, null]
const leaves = fc.oneof(
  fc.record({
    field: fc.constantFrom('args.a', 'args.b'),
    op: fc.constantFrom('gt', 'gte', 'lt', 'lte'),
    value: fc.constantFrom(-1, 0, 1, 2, 3),
  }),
  fc.record({
    field: fc.constantFrom('args.a', 'args.b'),
    op: fc.constantFrom('eq', 'ne'),
    value: fc.constantFrom(...values),
  }),
  fc.record({
    field: fc.constantFrom('args.a', 'args.b'),
    op: fc.constantFrom('in', 'not_in'),
    value: fc.array(fc.constantFrom<JsonValue>(0, 1, 2, 'a', 'b'), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ field: fc.constantFrom('args.a', 'args.b'), op: fc.constant('exists'), value: fc.boolean() }),
  fc.record({
    field: fc.constantFrom('args.a', 'args.b'),
    op: fc.constantFrom('gt', 'eq'),
    value: fc.constantFrom(0, 1, 2),
    if_missing: fc.boolean(),
  }),
)
const { condition: conditions } = fc.letrec<{ condition: JsonValue }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    leaves as fc.Arbitrary<JsonValue>,
    fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('condition') }),
  ),
}))
const calls = fc.record(
  { a: fc.constantFrom(...values), b: fc.constantFrom(...values) },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>

/** Conditions of this test read arguments alone. */
const truthOf = (condition: Condition, args: JsonObject): string =>
  evaluateCondition(condition, { args } as CallFacts).truth

test('what is proven holds for every call: nothing makes true what cannot be, and what implies another is no larger', () => {
  fc.assert(
    fc.property(conditions, conditions, calls, (one, other, args) => {
      const [first, second] = [read(one), read(other)]
      const is = truthOf(first, args) === 'true'
      expect(is && !isSatisfiable(first)).toBe(false)
      expect(is && truthOf(second, args) === 'false' && conditionImplies(first, second)).toBe(false)
    }),
    { numRuns: 3000 },
  )
})

test('with a schema, too', () => {
  const schema: JsonObject = {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'integer', minimum: 0, maximum: 2 }, b: { enum: ['a', 'b'] } },
  }
  const fitting = fc.record(
    { a: fc.constantFrom(0, 1, 2), b: fc.constantFrom('a', 'b') },
    { requiredKeys: ['a'] },
  ) as fc.Arbitrary<JsonObject>
  fc.assert(
    fc.property(conditions, fitting, (written, args) => {
      const condition = read(written)
      const truth = truthOf(condition, args)
      expect([truth === 'true', isSatisfiable(condition, under(schema))]).not.toEqual([true, false])
      expect([truth, isAlwaysTrue(condition, under(schema))]).not.toEqual(['false', true])
      expect([truth, isAlwaysTrue(condition, under(schema))]).not.toEqual(['unknown', true])
    }),
    { numRuns: 3000 },
  )
})
