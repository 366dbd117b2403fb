import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { acceptsAll, compareSchemas } from '../../src/authority/schema.ts'
import type { JsonSchema } from '../../src/spec/snapshot.ts'
import { checkValue } from '../../src/tools/check/check.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonSchema => ({ type: 'object', properties, ...more })

test.each<[string, JsonSchema, JsonSchema, string]>([
  ['descriptions say nothing', { type: 'string', description: 'a' }, { title: 'b', type: 'string' }, 'equal'],
  ['a new required property', object({ a: {} }), object({ a: {} }, { required: ['a'] }), 'narrowed'],
  ['a property no longer required', object({ a: {} }, { required: ['a'] }), object({ a: {} }), 'widened'],
  ['a tighter enumeration', { enum: ['EUR', 'USD'] }, { enum: ['EUR'] }, 'narrowed'],
  ['a longer enumeration', { enum: ['EUR'] }, { enum: ['EUR', 'USD'] }, 'widened'],
  ['an enumeration in another order', { enum: ['EUR', 'USD'] }, { enum: ['USD', 'EUR'] }, 'equal'],
  ['a tighter range', { type: 'number', maximum: 10 }, { type: 'number', maximum: 5 }, 'narrowed'],
  ['a bound that excludes itself', { type: 'number', minimum: 1 }, { type: 'number', exclusiveMinimum: 1 }, 'narrowed'],
  ['whole numbers only', { type: 'number' }, { type: 'integer' }, 'narrowed'],
  ['a pattern', { type: 'string' }, { type: 'string', pattern: '^a' }, 'narrowed'],
  ['another pattern', { type: 'string', pattern: '^a' }, { type: 'string', pattern: '^b' }, 'changed'],
  ['a closed object', object({ a: {} }), object({ a: {} }, { additionalProperties: false }), 'narrowed'],
  [
    'an optional property of a closed object',
    object({}, { additionalProperties: false }),
    object({ a: {} }, { additionalProperties: false }),
    'widened',
  ],
  ['the same by reference', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, { type: 'string' }, 'equal'],
  [
    'items',
    { type: 'array', items: { type: 'string' } },
    { type: 'array', items: { type: ['string', 'null'] } },
    'widened',
  ],
  ['one choice fewer', { anyOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'string' }, 'narrowed'],
  ['anything', true, { type: 'object' }, 'narrowed'],
  ['another type', { type: 'string' }, { type: 'number' }, 'changed'],
  ['one choice among several', { oneOf: [{ type: 'string' }] }, { oneOf: [{ type: 'number' }] }, 'changed'],
])('%s', (_, before, after, verdict) => {
  expect(compareSchemas(before, after)).toBe(verdict)
})

test('a schema that refers to itself is compared', () => {
  const list = (more: JsonObject): JsonSchema => ({ type: 'object', properties: { next: { $ref: '#' }, ...more } })
  expect(compareSchemas(list({}), list({}))).toBe('equal')
  expect(acceptsAll(list({ a: { type: 'string' } }), list({ a: { type: 'string', minLength: 1 } }))).toBe(true)
})

test('with `declared`, a new optional property is no narrowing', () => {
  const [before, after] = [object({ a: {} }), object({ a: {}, b: { type: 'string' } })]
  expect([acceptsAll(after, before), acceptsAll(after, before, true)]).toEqual([false, true])
})

const part: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array') }),
  fc.record({ minimum: fc.integer({ min: -2, max: 3 }) }),
  fc.record({ exclusiveMaximum: fc.integer({ min: -1, max: 4 }) }),
  fc.record({
    enum: fc
      .array(fc.constantFrom<JsonValue>('a', 1, 2.5, null, true), { minLength: 1, maxLength: 3 })
      .map((all) => [...new Set(all)]),
  }),
  fc.record({ maxLength: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant('array'), items: fc.record({ type: fc.constantFrom('string', 'number') }) }),
)
const schema: fc.Arbitrary<JsonObject> = fc.oneof(
  part,
  fc.tuple(part, part).map(([a, b]) => ({ ...a, ...b })),
  fc.array(part, { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
  fc.array(part, { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
  fc
    .record({ a: part, b: part, required: fc.subarray(['a', 'b']), closed: fc.boolean() })
    .map(({ a, b, required, closed }) => ({
      type: 'object',
      properties: { a, b },
      required,
      ...(closed && { additionalProperties: false }),
    })),
)
const plain = fc.constantFrom<JsonValue>('', 'a', 'abcd', -3, 0, 1, 2.5, 3, 9, null, true, false, [], ['x'], [1])
const value: fc.Arbitrary<JsonValue> = fc.oneof(plain, fc.dictionary(fc.constantFrom('a', 'b', 'c'), plain))

test('what is proven to be accepted is accepted', () => {
  let proven = 0
  fc.assert(
    fc.property(schema, schema, fc.array(value, { minLength: 15, maxLength: 15 }), (wide, narrow, values) => {
      if (!acceptsAll(wide, narrow)) return
      proven++
      const accepted = values.filter((each) => checkValue(narrow, each).length === 0)
      expect(accepted.filter((each) => checkValue(wide, each).length > 0)).toEqual([])
    }),
    { numRuns: 1500, seed: 3 },
  )
  expect(proven).toBeGreaterThan(50)
})
