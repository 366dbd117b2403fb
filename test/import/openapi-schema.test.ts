import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { convertSchema } from '../../src/import/openapi-schema.ts'
import { measureSchema } from '../../src/tools/check/schema-size.ts'
import { expandable } from './sources.ts'

const ROOM = { bytes: 24 * 1024, nodes: 600 }

const convert = (schema: JsonValue, isOld = true, schemas: JsonObject = {}) => {
  const losses: string[] = []
  const root = { components: { schemas } }
  const converted = convertSchema({ root, isOld }, schema, ROOM, (what, authority = false) =>
    losses.push(authority ? `authority: ${what}` : what),
  )
  return { converted, losses }
}

test.each<[string, JsonValue, JsonValue]>([
  ['a nullable type', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
  ['a nullable enum', { type: 'string', nullable: true, enum: ['a'] }, { type: ['string', 'null'], enum: ['a', null] }],
  [
    'a nullable union',
    { nullable: true, oneOf: [{ type: 'string' }] },
    { anyOf: [{ oneOf: [{ type: 'string' }] }, { type: 'null' }] },
  ],
  [
    'a boolean bound',
    { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 2 },
    { type: 'number', exclusiveMinimum: 1, maximum: 2 },
  ],
  ['formats of OpenAPI', { type: 'integer', format: 'int64', maximum: 2 ** 63 }, { type: 'integer' }],
  ['a title in place of a description', { title: 'Order', type: 'string' }, { type: 'string', description: 'Order' }],
  [
    'what only answers have',
    { type: 'object', required: ['id', 'a'], properties: { id: { readOnly: true }, a: {} } },
    { type: 'object', properties: { a: {} }, required: ['a'] },
  ],
  [
    'a closed object that requires what it does not declare',
    { type: 'object', required: ['x'], properties: {}, additionalProperties: false },
    { type: 'object', properties: {}, additionalProperties: false },
  ],
  [
    'keywords of nobody',
    { type: 'string', example: 'x', xml: {}, externalDocs: {}, 'x-thing': 1, deprecated: true },
    { type: 'string' },
  ],
  ['a default that fits', { type: 'integer', default: 3 }, { type: 'integer', default: 3 }],
  ['a default that does not fit', { type: 'integer', default: 'three' }, { type: 'integer' }],
  ['values of an enum of other types', { type: 'string', enum: ['on', true, 'on'] }, { type: 'string', enum: ['on'] }],
  [
    'a property called $ref',
    { type: 'object', properties: { type: { type: 'string' }, enum: { type: 'string' } } },
    { type: 'object', properties: { type: { type: 'string' }, enum: { type: 'string' } } },
  ],
  ['a hidden character', { type: 'string', description: 'a\u202eb\u0000c' }, { type: 'string', description: 'ab c' }],
])('%s', (_, schema, expected) => {
  expect(convert(schema)).toEqual({ converted: expected, losses: [] })
})

test.each<[string, JsonValue, JsonValue, string[]]>([
  [
    'a reference to elsewhere',
    { $ref: 'https://evil.example/a.json#/b' },
    {},
    ['authority: a reference to elsewhere is left open: https://evil.example/a.json#/b'],
  ],
  ['a reference to a file', { $ref: './a.yaml' }, {}, ['authority: a reference to elsewhere is left open: ./a.yaml']],
  [
    'a reference that leads nowhere',
    { $ref: '#/components/schemas/None' },
    {},
    ['authority: a reference that leads nowhere is left open: #/components/schemas/None'],
  ],
  ['a type of nobody', { type: 'file' }, {}, ['authority: the type "file" is unknown and left open']],
  ['a dynamic reference', { $dynamicRef: '#x' }, {}, ['authority: a dynamic reference is left open']],
  ...'unevaluatedProperties unevaluatedItems dependentRequired dependentSchemas minContains maxContains'
    .split(' ')
    .map((key): [string, JsonValue, JsonValue, string[]] => [
      key,
      { [key]: {} },
      {},
      [`authority: \`${key}\` is left open`],
    ]),
  [
    'a pattern of names, which opens a closed object',
    { type: 'object', properties: {}, patternProperties: { '^x-': {} }, additionalProperties: false },
    { type: 'object', properties: {} },
    ['authority: `patternProperties` is left open'],
  ],
  [
    'a constant of another type',
    { type: 'string', const: 1 },
    { type: 'string' },
    ['authority: a `const` of another type is left open'],
  ],
  [
    'a discriminator',
    { oneOf: [{ type: 'string' }], discriminator: { propertyName: 'kind' } },
    { oneOf: [{ type: 'string' }] },
    ['`discriminator` is not carried; `oneOf` and `anyOf` are'],
  ],
  ['a slow pattern', { type: 'string', pattern: '(a+)+$' }, { type: 'string' }, ['a pattern is left open: (a+)+$']],
  ['a broken pattern', { type: 'string', pattern: '[' }, { type: 'string' }, ['a pattern is left open: [']],
  [
    'bounds that nothing meets',
    { type: 'number', minimum: 3, maximum: 1 },
    { type: 'number' },
    ['bounds that no number meets are left open'],
  ],
])('%s is reported', (_, schema, expected, losses) => {
  expect(convert(schema)).toEqual({ converted: expected, losses })
})

test('beside a reference, 3.1 adds and 3.0 ignores', () => {
  const schemas = { Name: { type: 'string', maxLength: 5 } }
  const given = { $ref: '#/components/schemas/Name', minLength: 2 }
  expect(convert(given, true, schemas).converted).toEqual({ type: 'string', maxLength: 5 })
  expect(convert(given, false, schemas).converted).toEqual({
    allOf: [{ type: 'string', maxLength: 5 }, { minLength: 2 }],
  })
})

test('a cycle is cut where it closes', () => {
  const Node: JsonObject = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } }
  expect(convert({ $ref: '#/components/schemas/Node' }, true, { Node })).toEqual({
    converted: { type: 'object', properties: { next: { type: 'object' } } },
    losses: ['a cycle is left open: #/components/schemas/Node'],
  })
  const Loop: JsonObject = { $ref: '#/components/schemas/Loop' }
  expect(convert(Loop, true, { Loop }).converted).toEqual({})
})

test('what is deep or has many branches stays within the bounds of schemas that runs accept', () => {
  const root = expandable()
  const started = process.cpuUsage().user
  const converted = convertSchema(
    { root, isOld: true },
    { $ref: '#/components/schemas/resource0' },
    ROOM,
    () => undefined,
  )
  expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(2)
  expect(measureSchema(converted)).not.toHaveProperty('problem')
  let deep: JsonObject = { type: 'string' }
  for (let level = 0; level < 5000; level++) deep = { type: 'object', properties: { a: deep } }
  expect(measureSchema(convert(deep).converted)).not.toHaveProperty('problem')
})

test('what is large only by its descriptions loses them first', () => {
  const properties = (of: (at: number) => JsonObject) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`p${at}`, of(at)]))
  const description = 'long '.repeat(60)
  const leaf: JsonObject = { type: 'object', properties: properties(() => ({ type: 'string', description })) }
  const { converted, losses } = convert({ type: 'object', properties: properties(() => leaf) })
  expect(losses).toEqual([])
  expect(JSON.stringify(converted)).not.toContain(description)
  expect(Object.keys(converted['properties'] as JsonObject)).toHaveLength(20)
})
