/** What svc proves about a schema and a value is what a validator finds. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  type Arbitrary,
  array,
  assert,
  boolean,
  constantFrom,
  dictionary,
  integer,
  oneof,
  property,
  record,
  tuple,
} from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { describeMisfit } from '../../src/policy/prove/misfit.ts'
import { cases } from '../cases.ts'

const accepts = (schema: JsonObject, value: JsonValue): boolean =>
  new Ajv2020({ strict: false, validateSchema: false }).validate(schema, value)

const names = constantFrom('a', 'b', 'c')
const options = { requiredKeys: [] as never[], noNullPrototype: true } as const

function valueOf(depth: number): Arbitrary<JsonValue> {
  const scalar = constantFrom<JsonValue>(null, true, 0, 1, 2, 6, 1.5, '', 'a', 'aé', '😀😀', 'abc')
  if (depth === 0) return scalar
  const below = valueOf(depth - 1)
  return oneof(
    scalar,
    array(below, { maxLength: 3 }),
    dictionary(names, below, { maxKeys: 3, noNullPrototype: true }) as Arbitrary<JsonValue>,
  )
}
const anyValue = valueOf(2)

/** Schemas of the keywords that are checked. @param more other keywords, at the top */
function schemaOf(depth: number, more: Readonly<Record<string, Arbitrary<unknown>>> = {}): Arbitrary<JsonObject> {
  const plain = {
    type: constantFrom('object', 'array', 'string', 'integer', 'number', 'null', 'boolean'),
    enum: array(anyValue, { minLength: 1, maxLength: 3 }),
    const: anyValue,
    minimum: integer({ min: 0, max: 3 }),
    exclusiveMaximum: integer({ min: 0, max: 3 }),
    multipleOf: constantFrom(2, 3),
    minLength: integer({ min: 0, max: 2 }),
    maxLength: integer({ min: 0, max: 2 }),
    minItems: integer({ min: 0, max: 2 }),
    maxItems: integer({ min: 0, max: 2 }),
    uniqueItems: boolean(),
    required: array(names, { maxLength: 2 }),
    minProperties: integer({ min: 0, max: 2 }),
    maxProperties: integer({ min: 0, max: 2 }),
  }
  if (depth === 0) return record(plain, options) as Arbitrary<JsonObject>
  const below = belowOf(depth)
  const nested = {
    properties: dictionary(names, below, { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: below,
    items: below,
    prefixItems: array(below, { minLength: 1, maxLength: 2 }),
    allOf: array(below, { minLength: 1, maxLength: 2 }),
    anyOf: array(below, { minLength: 1, maxLength: 2 }),
  }
  // One scalar keyword in most schemas: with all of them, nearly nothing fits.
  const chosen = oneof(record(plain, options), record({ type: plain.type }, options), constantFrom({}))
  return tuple(chosen, record({ ...nested, ...more }, options)).map(([a, b]) => ({
    ...a,
    ...b,
  })) as Arbitrary<JsonObject>
}
const belowOf = (depth: number): Arbitrary<JsonValue> => oneof(schemaOf(depth - 1), boolean())
const plainSchema = belowOf(1)

test('a schema of the keywords that are checked refuses exactly what a validator refuses', () => {
  assert(
    property(schemaOf(2), anyValue, (schema, value) => {
      expect(describeMisfit(schema, value, schema) === undefined).toBe(accepts(schema, value))
    }),
    { numRuns: cases(150) },
  )
})

test('with any other keyword, what is refused is refused by a validator', () => {
  const others = {
    not: plainSchema,
    oneOf: array(plainSchema, { minLength: 1, maxLength: 2 }),
    patternProperties: dictionary(constantFrom('^a', 'c$'), plainSchema, {
      maxKeys: 1,
      noNullPrototype: true,
    }),
    pattern: constantFrom('^a', 'é', '^.$'),
    contains: plainSchema,
    unevaluatedProperties: plainSchema,
    $ref: constantFrom('#/$defs/a', '#/properties/a'),
    $defs: record({ a: plainSchema }, { noNullPrototype: true }),
    properties: record({ a: plainSchema }, { noNullPrototype: true }),
  }
  assert(
    property(schemaOf(2, others), anyValue, (schema, value) => {
      let isValid: boolean
      try {
        isValid = accepts(schema, value)
      } catch {
        return // A reference leads nowhere.
      }
      expect(describeMisfit(schema, value, schema) !== undefined && isValid).toBe(false)
    }),
    { numRuns: cases(150) },
  )
})

test('a schema that refers to itself is searched to an end', () => {
  expect(describeMisfit({ $ref: '#' }, 1, { $ref: '#' })).toBeUndefined()
  const twice = { anyOf: [{ $ref: '#' }, { $ref: '#' }] }
  expect(describeMisfit(twice, 1, twice)).toBeUndefined()
})
