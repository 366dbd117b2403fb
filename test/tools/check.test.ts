import { performance } from 'node:perf_hooks'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import type { JsonSchema } from '../../src/spec/snapshot.ts'
import {
  checkForeignSchema,
  checkForeignValue,
  checkValue,
  isLongCheck,
  workWithChecks,
} from '../../src/tools/check/check.ts'

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

test('no more than 20 places are reported', () => {
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
  ])('%s', async (_, schema, problem) => {
    expect(await checkForeignSchema(schema)).toBe(problem)
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
    const started = process.cpuUsage()
    expect(checkValue(schema, value)).toEqual([
      { path: '', message: 'cannot be checked: the check takes more than 60 ms of processor time' },
    ])
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })

  test.each<[string, JsonSchema, string]>([
    ['to the whole', { allOf: [{ $ref: '#' }] }, '#'],
    [
      'through others',
      {
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      },
      '#/$defs/a > #/$defs/b > #/$defs/a',
    ],
    ['to a part of it', { properties: { a: { if: { $ref: '#/properties/a' } } } }, '#/properties/a'],
  ])('a schema that leads back to itself without an end: %s', async (_, schema, refs) => {
    const problem = `its references lead back to themselves: ${refs}`
    expect(await checkForeignSchema(schema)).toBe(problem)
    expect(checkValue(schema, 1)).toEqual([{ path: '', message: `cannot be checked: ${problem}` }])
  })
})

test('names that look like code are only names', () => {
  const name = `"'];globalThis.hit=1;//\n\u2028`
  expect(checkValue({ properties: { [name]: { type: 'string' } }, required: [name] }, {})).toEqual([
    { path: `/${name.replaceAll('/', '~1')}`, message: 'is required' },
  ])
  expect('hit' in globalThis).toBe(false)
})

describe('equal items are found in linear time, whatever they are', () => {
  const unique: JsonObject = { type: 'array', uniqueItems: true, items: { type: 'object' } }
  const rows = (length: number): JsonObject[] => Array.from({ length }, (_, at) => ({ at, name: 'x' }))

  test.each<[string, JsonValue[], boolean]>([
    [
      'the same object in another order',
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
    ['1 and 1.0', [1, 1.0], false],
    ['0 and -0', [0, -0], false],
    ['1 and "1"', [1, '1'], true],
    ['[1] and ["1"]', [[1], ['1']], true],
    ['null and {}', [null, {}], true],
    ['nested lists', [[[1, { a: [] }]], [[1, { a: [] }]]], false],
  ])('%s', (_, value, valid) => {
    expect(checkValue({ uniqueItems: true }, value)).toEqual(
      valid ? [] : [{ path: '', message: 'must NOT have duplicate items (items ## 0 and 1 are identical)' }],
    )
  })

  test('10,000 objects are no reason to refuse', async () => {
    expect(await checkForeignValue(unique, rows(10_000))).toEqual([])
    expect(await checkForeignValue(unique, [...rows(10_000), { name: 'x', at: 7 }])).toEqual([
      { path: '', message: 'must NOT have duplicate items (items ## 7 and 10000 are identical)' },
    ])
  })
})

describe('what may take long is done elsewhere', () => {
  const fields = Array.from({ length: 10 }, (_, at) => `field${at}`)
  const rows: JsonObject = { type: 'array', items: { type: 'object', required: fields } }
  const shapes = (count: number): JsonObject => ({
    type: 'array',
    items: {
      oneOf: Array.from({ length: count }, (_, at) => ({ type: 'object', required: [`a${at}`, `b${at}`] })),
    },
  })
  const tooLong = [{ path: '', message: 'cannot be checked: the check takes more than 60 ms of processor time' }]

  test.each<[string, JsonSchema, unknown, unknown]>([
    ['a pattern that backtracks', { type: 'string', pattern: '^(a|a)*$' }, `${'a'.repeat(40)}b`, tooLong],
    ['a quadratic pattern', { type: 'string', pattern: '^a*a*$' }, `${'a'.repeat(200_000)}b`, tooLong],
    [
      'the first fault of many',
      rows,
      Array.from({ length: 300_000 }, () => ({})),
      [{ path: '/0/field0', message: 'is required' }],
    ],
    [
      'shapes beyond counting',
      shapes(600),
      Array.from({ length: 100_000 }, (_, at) => ({ a599: at, b599: at })),
      tooLong,
    ],
  ])('%s', async (_, schema, value, found) => {
    expect(await checkForeignValue(schema, value)).toEqual(found)
  })

  test('nobody else waits for it', async () => {
    await checkForeignValue({ type: 'string', pattern: '^(a|a)*$' }, 'a'.repeat(30))
    const cpu = process.cpuUsage()
    const before = performance.eventLoopUtilization()
    await checkForeignValue({ type: 'string', pattern: '^(a|a)*$' }, `${'a'.repeat(60)}b`)
    const busyMs = process.cpuUsage(cpu).user / 1000
    expect(busyMs).toBeGreaterThan(50)
    // Checked on this thread, the loop would have been busy for all of it.
    expect(performance.eventLoopUtilization(before).active).toBeLessThan(busyMs / 2)
  })

  test('work that checks values is done again when their verdicts are known', async () => {
    const schema = { type: 'string', pattern: '^(a|a)*$' }
    let times = 0
    const found = await workWithChecks(() => {
      times++
      return ['a', 'b', 'bb'].map((text) => checkValue(schema, text.padStart(16, 'a')).length)
    })
    expect({ found, times }).toEqual({ found: [0, 1, 1], times: 4 })
  })

  test('what the work throws is thrown', async () => {
    await expect(
      workWithChecks(() => {
        throw new Error('broken')
      }),
    ).rejects.toThrow('broken')
    expect(isLongCheck(new Error('broken'))).toBe(false)
    // Outside of such work, a check is done at once.
    expect(checkValue({ type: 'string', pattern: '^(a|a)*$' }, 'aab'.padStart(16, 'a'))).toHaveLength(1)
  })
})
