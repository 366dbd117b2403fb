import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import { metaSchema } from '../../src/documents/generated/validators.js'
import { isPlainSchema } from '../../src/documents/schemas/plain-schema.ts'

const KEYWORDS =
  'type title description format pattern enum const default examples required minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems uniqueItems properties $defs additionalProperties items anyOf allOf oneOf not $ref $id $anchor dependentRequired multipleOf patternProperties constructor __proto__ x-own'.split(
    ' ',
  )

const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, -1, 1.5, Infinity, NaN, '', 'a', 'string', 'number', 'strng', '#/a', '%'),
  fc.array(fc.constantFrom('string', 'a', 'b', 1, {}, true), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'type', '__proto__'), fc.constantFrom(true, 1, 'a', {}), { maxKeys: 2 }),
)

/** Schemas, most of them right, with anything in any place. */
const schema = fc.letrec<{ schema: unknown; mapping: unknown }>((tie) => {
  const named = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'type'), tie('schema'), { maxKeys: 3 })
  const right: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string'),
    required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
    properties: named,
    $defs: named,
    additionalProperties: tie('schema'),
    items: tie('schema'),
    anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
    enum: fc.array(fc.constantFrom('a', 1, null)),
    minLength: fc.nat(),
    description: fc.string(),
  }
  const member = fc
    .constantFrom(...KEYWORDS, ...Object.keys(right), ...Object.keys(right), ...Object.keys(right))
    .chain((key) =>
      fc.tuple(
        fc.constant(key),
        fc.oneof({ weight: 12, arbitrary: (Object.hasOwn(right, key) && right[key]) || anything }, anything),
      ),
    )
  return {
    schema: fc.oneof(
      { depthSize: 'small' },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 8, arbitrary: tie('mapping') },
    ),
    mapping: fc.array(member, { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  }
})

test('what is proven to be a schema is one', () => {
  let proven = 0
  fc.assert(
    fc.property(fc.oneof(schema.schema, anything), (value) => {
      if (!isPlainSchema(value as JsonValue)) return
      proven++
      expect(metaSchema(value)).toBe(true)
    }),
    { numRuns: 3000 },
  )
  expect(proven).toBeGreaterThan(500)
})

test.each<[string, JsonValue]>([
  [
    'an object of a few texts and numbers',
    {
      type: 'object',
      required: ['order', 'amount'],
      additionalProperties: false,
      properties: {
        order: { type: 'string', minLength: 1, description: 'Number of the order.' },
        amount: { type: 'number', exclusiveMinimum: 0 },
        currency: { enum: ['EUR', 'USD'] },
        lines: { type: 'array', items: { anyOf: [{ type: 'string' }, { const: null }] }, maxItems: 10 },
      },
    },
  ],
  ['anything', true],
])('%s is proven to be a schema', (_, value) => {
  expect(isPlainSchema(value)).toBe(true)
})

test.each<[string, JsonValue]>([
  ['a type that is none', { type: 'strng' }],
  ['a type in a property', { properties: { a: { type: 'strng' } } }],
  ['a name that is required twice', { required: ['a', 'a'] }],
  ['a length below zero', { maxLength: -1 }],
  ['no alternative', { anyOf: [] }],
  ['a keyword of every object', { constructor: true }],
  ['a reference, which may be none', { $ref: 1 }],
  ['a text', 'string'],
])('%s is not', (_, value) => {
  expect(isPlainSchema(value)).toBe(false)
})
