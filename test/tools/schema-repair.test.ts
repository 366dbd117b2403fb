/** Schemas of MCP servers that cannot be compiled. A new form is one line of the table. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { checkForeignSchema, checkValue } from '../../src/tools/check/check.ts'
import { repairSchema } from '../../src/tools/check/schema-repair.ts'

const q = (more: object, rest: object = {}): JsonObject =>
  ({ type: 'object', properties: { q: { type: 'string', ...more } }, required: ['q'], ...rest }) as JsonObject

/** A schema, the places that are not checked, arguments that stay allowed, and arguments that stay refused. */
const FORMS: readonly [string, JsonObject, string[], object, object][] = [
  [
    'an escape that the flag u does not know',
    q({ pattern: '^https\\:\\/\\/' }),
    [],
    { q: 'https://a' },
    { q: 'ftp://a' },
  ],
  ['an inline flag', q({ pattern: '(?i)^x$' }), ['/properties/q/pattern'], { q: 'X' }, {}],
  ['a group of Python', q({ pattern: '^(?P<a>[a-z]+)\\Z' }), ['/properties/q/pattern'], { q: 'a' }, { q: 1 }],
  ['draft 4', q({}, { $schema: 'http://json-schema.org/draft-04/schema#' }), [], { q: 'a' }, {}],
  [
    'exclusive bounds of draft 4',
    { type: 'object', properties: { n: { minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false } } },
    [],
    { n: 5 },
    { n: 1 },
  ],
  ['an unknown dialect', q({}, { $schema: 'https://example.com/mine' }), ['/$schema'], { q: 'a' }, {}],
  [
    'a reference to nothing',
    q({}, { properties: { q: { type: 'string' }, m: { $ref: '#/$defs/Gone' } } }),
    ['/properties/m/$ref'],
    { q: 'a', m: 1 },
    { m: 1 },
  ],
  ['required on a property', q({ required: true }), ['/properties/q/required'], { q: 'a' }, { q: 1 }],
  ['required that is text', q({}, { required: 'q' }), ['/required'], {}, { q: 1 }],
  [
    'nullable without a type',
    q({}, { properties: { q: { type: 'string' }, n: { nullable: true, enum: ['a'] } } }),
    [],
    { q: 'a', n: 'a' },
    { q: 'a', n: 'b' },
  ],
  [
    'properties null',
    { type: 'object', properties: null, additionalProperties: false },
    ['/properties'],
    { any: 1 },
    [],
  ],
  [
    'a property null',
    { type: 'object', properties: { q: null, n: { type: 'number' } }, additionalProperties: false },
    ['/properties/q'],
    { q: 'x' },
    { z: 1 },
  ],
  [
    'a property named as a keyword',
    { type: 'object', properties: { properties: { type: 'string', minLength: 'x' }, not: null } },
    ['/properties/properties/minLength', '/properties/not'],
    { properties: 'a', not: 1 },
    { properties: 1 },
  ],
  [
    'an unknown type',
    { type: 'object', properties: { q: { type: 'text', minLength: 2 } } },
    ['/properties/q/type'],
    { q: 'ab' },
    { q: 'a' },
  ],
  [
    'a type among others',
    { type: 'object', properties: { q: { type: ['string', 'date'] } } },
    ['/properties/q/type'],
    { q: 1 },
    [],
  ],
  ['an enum that is text', q({ enum: 'a, b' }), ['/properties/q/enum'], { q: 'c' }, {}],
  ['a fault below not', q({ not: { pattern: '(?i)x' } }), ['/properties/q/not'], { q: 'x' }, {}],
  ['a fault below oneOf', { oneOf: [{ required: 'a' }, { type: 'string' }] }, ['/oneOf'], {}, []],
  // oxlint-disable-next-line unicorn/no-thenable
  ['a fault below if', { type: 'object', if: { required: true }, then: false }, ['/if'], { a: 1 }, []],
  [
    'patternProperties that are no patterns',
    { type: 'object', patternProperties: { '(?i)a': { type: 'string' } }, additionalProperties: false },
    ['/patternProperties'],
    { a: 1 },
    [],
  ],
]

test.each(FORMS)('%s is checked as far as it can be', async (_, schema, places, allowed, refused) => {
  const { shown, checked, unchecked } = await repairSchema(schema)
  expect(unchecked.map(({ pointer }) => pointer)).toEqual(places)
  expect(await checkForeignSchema(checked)).toBeUndefined()
  expect(checkValue(checked, allowed)).toEqual([])
  // A schema of which nothing is left refuses nothing but what is no object.
  expect(!Array.isArray(refused) && checkValue(checked, refused).length === 0).toBe(false)
  expect(Object.keys(shown['properties'] ?? {})).toEqual(Object.keys(schema['properties'] ?? {}))
})

test('a pattern that cannot be checked is shown', async () => {
  const schema = q({ pattern: '(?i)^x$' })
  expect((await repairSchema(schema)).shown).toEqual(schema)
})

test('a schema without faults stays as it is', async () => {
  const schema = q({ pattern: '^x$' })
  expect(await repairSchema(schema)).toEqual({ shown: schema, checked: schema, unchecked: [] })
})

test('a schema that is too large is not checked, and shown', async () => {
  const schema = q({ description: 'x'.repeat(70 * 1024) })
  const { checked, unchecked } = await repairSchema(schema)
  expect(checked).toEqual({ type: 'object' })
  expect(unchecked).toEqual([{ pointer: '', why: 'the schema is larger than 65536 bytes' }])
})

const KEYWORDS = ['properties', 'required', 'type', 'enum', 'pattern', 'items', 'anyOf', 'oneOf', 'not', 'if', '$ref', 'minimum', 'format', 'additionalProperties', '$defs', 'minLength', 'nullable', '$schema'] // oxfmt-ignore
const anySchema = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 7, 'string', 'object', '#/$defs/a', '(?i)a', [], ['a'], {}),
    tie('schema'),
    fc.dictionary(fc.constantFrom('a', 'not', 'items'), tie('schema'), { maxKeys: 2 }),
    fc.array(tie('schema'), { maxLength: 2 }),
  ),
})).schema

test('whatever a server lists, something can be compiled, and the model gets an object', async () => {
  await fc.assert(
    fc.asyncProperty(anySchema, async (schema) => {
      const { checked, shown } = await repairSchema({ type: 'object', ...(schema as JsonObject) })
      expect(await checkForeignSchema(checked)).toBeUndefined()
      expect(typeof shown).toBe('object')
    }),
    { numRuns: 150 },
  )
})
