import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json.ts'
import type { JsonSchema } from '../../src/spec/snapshot.ts'
import { checkSchema, checkValue } from '../../src/tools/check.ts'

const order: JsonObject = {
  type: 'object',
  properties: {
    order: { type: 'string', pattern: '^A-\\d+$' },
    amount: { type: 'number', exclusiveMinimum: 0 },
    currency: { enum: ['EUR', 'USD'] },
    email: { type: 'string', format: 'email' },
    lines: { type: 'array', items: { type: 'object', required: ['sku/id'] } },
  },
  required: ['order'],
  additionalProperties: false,
}

test.each<[unknown, { path: string; message: string }[]]>([
  [{ order: 'A-1', amount: 1 }, []],
  [{}, [{ path: '/order', message: 'is required' }]],
  [{ order: 'A-1', note: 'x' }, [{ path: '/note', message: 'is not allowed' }]],
  [{ order: 'A-1', amount: '180' }, [{ path: '/amount', message: 'must be number' }]],
  [{ order: 'A-1', currency: 'GBP' }, [{ path: '/currency', message: 'must be one of "EUR", "USD"' }]],
  [{ order: 'A-1', email: 'ana' }, [{ path: '/email', message: 'must match format "email"' }]],
  [{ order: 'A-1', lines: [{ 'sku/id': 1 }, {}] }, [{ path: '/lines/1/sku~1id', message: 'is required' }]],
  ['A-1', [{ path: '', message: 'must be object' }]],
  [
    { order: 'B', amount: 0 },
    [
      { path: '/order', message: 'must match pattern "^A-\\d+$"' },
      { path: '/amount', message: 'must be > 0' },
    ],
  ],
])('%j', (value, findings) => {
  expect(checkValue(order, value)).toEqual(findings)
})

test.each<[string, JsonSchema, unknown, boolean]>([
  ['true allows everything', true, 1, true],
  ['false allows nothing', false, 1, false],
  ['2020-12 is the dialect', { prefixItems: [{ type: 'string' }], items: false }, ['a', 'b'], false],
  [
    'draft-07 where the schema says so',
    { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }], additionalItems: false },
    ['a', 'b'],
    false,
  ],
  [
    '2019-09 where the schema says so',
    { $schema: 'https://json-schema.org/draft/2019-09/schema', dependentRequired: { a: ['b'] } },
    { a: 1 },
    false,
  ],
  [
    'a schema that refers to itself',
    { properties: { next: { $ref: '#' } }, required: ['id'] },
    { id: 1, next: { id: 2, next: {} } },
    false,
  ],
  ['definitions', { $defs: { id: { type: 'integer' } }, properties: { id: { $ref: '#/$defs/id' } } }, { id: 1 }, true],
  [
    'keywords as property names',
    { properties: { enum: { type: 'string' }, $ref: { type: 'string' } } },
    { enum: 'x', $ref: 'y' },
    true,
  ],
])('%s', (_, schema, value, valid) => {
  expect(checkValue(schema, value).length === 0).toBe(valid)
})

test('two schemas may carry the same $id', () => {
  expect(checkValue({ $id: 'https://acme.example/a', type: 'string' }, 1)).toEqual([
    { path: '', message: 'must be string' },
  ])
  expect(checkValue({ $id: 'https://acme.example/a', type: 'number' }, 1)).toEqual([])
})

test('no more than 20 places are told', () => {
  expect(
    checkValue(
      { items: { type: 'string' } },
      Array.from({ length: 500 }, () => 1),
    ),
  ).toHaveLength(20)
})

describe('a schema that could do harm checks nothing, and nothing passes it', () => {
  const ladder: JsonObject = { $ref: '#/$defs/d0', $defs: { d22: { type: 'string' } } }
  for (let at = 0; at < 22; at++)
    (ladder['$defs'] as JsonObject)[`d${at}`] = {
      anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }],
    }
  const doubled = (depth: number): JsonObject =>
    depth === 0 ? { type: 'string' } : { anyOf: [doubled(depth - 1), doubled(depth - 1)] }
  const nested = (depth: number): JsonObject => (depth === 0 ? {} : { properties: { a: nested(depth - 1) } })
  const bottomless = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as JsonValue
  const abyss = JSON.parse('{"not":'.repeat(20_000) + 'true' + '}'.repeat(20_000)) as JsonObject

  test.each<[string, JsonSchema, string]>([
    [
      'a remote reference',
      { $ref: 'https://evil.example/schema' },
      '$ref "https://evil.example/schema" leaves the schema',
    ],
    ['another file', { properties: { a: { $ref: 'other.json#/x' } } }, '$ref "other.json#/x" leaves the schema'],
    ['a ladder of references', ladder, 'the schema has more than 2000 nodes, references followed'],
    ['a doubled anyOf', doubled(11), 'the schema has more than 2000 nodes, references followed'],
    ['deep nesting', nested(40), 'the schema is nested deeper than 32'],
    ['bottomless nesting', abyss, 'the schema is nested deeper than 32'],
    ['bottomless lists', { allOf: bottomless } as JsonObject, 'the schema is nested deeper than 32'],
    ['a long enum', { enum: Array.from({ length: 1001 }, (_, at) => at) }, 'an enum has more than 1000 values'],
    ['a large schema', { description: 'x'.repeat(64 * 1024) }, 'the schema is larger than 65536 bytes'],
    [
      'an unknown dialect',
      { $schema: 'https://acme.example/dialect' },
      'its $schema names a dialect that is not known',
    ],
    [
      'no schema at all',
      { type: 'strng' },
      'the schema is invalid: schema/type must be equal to one of the allowed values, schema/type must be array, schema/type must match a schema in anyOf',
    ],
    ['a dangling reference', { $ref: '#/$defs/none' }, "can't resolve reference #/$defs/none from id #"],
  ])('%s', (_, schema, problem) => {
    expect(checkSchema(schema)).toBe(problem)
    expect(checkValue(schema, 'x')).toEqual([{ path: '', message: `cannot be checked: ${problem}` }])
  })

  test.each<[string, JsonSchema, unknown]>([
    ['a pattern that backtracks', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}b`],
    [
      'a recursion that doubles',
      {
        $ref: '#/$defs/a',
        $defs: { a: { properties: { x: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } } } },
      },
      JSON.parse('{"x":'.repeat(40) + '1' + '}'.repeat(40)),
    ],
  ])('%s is stopped in time', (_, schema, value) => {
    const started = performance.now()
    expect(checkValue(schema, value)).toEqual([{ path: '', message: 'cannot be checked: the schema takes too long' }])
    expect(performance.now() - started).toBeLessThan(5000)
  })

  test('a schema that refers to nothing but itself ends', () => {
    expect(checkValue({ allOf: [{ $ref: '#' }] }, 1)).toEqual([
      { path: '', message: 'cannot be checked: Maximum call stack size exceeded' },
    ])
  })
})

test('names that look like code are only names', () => {
  const name = `"'];globalThis.hit=1;//\n\u2028`
  expect(checkValue({ properties: { [name]: { type: 'string' } }, required: [name] }, {})).toEqual([
    { path: `/${name.replaceAll('/', '~1')}`, message: 'is required' },
  ])
  expect('hit' in globalThis).toBe(false)
})
