import { expect, test } from 'vitest'
import type { JsonSchema } from '../../src/spec/snapshot.ts'
import { findToolSchemaFaults, vendorToolLimits } from '../../src/spec/vendor-tool-limits.ts'

const faultsOf = (provider: string, schema: JsonSchema): readonly string[] =>
  findToolSchemaFaults(vendorToolLimits(provider)!, schema).map(({ pointer, kind }) => `${kind} ${pointer}`)

const of = (...names: string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})

test('a plain schema is refused by nobody', () => {
  for (const provider of ['anthropic', 'vendor_a', 'bedrock', 'openai', 'azure-openai', 'gemini'])
    expect(faultsOf(provider, of('id', 'a.b-c_d'))).toEqual([])
  expect(vendorToolLimits('openai-compatible')).toBeUndefined()
})

test.each(['$filter', 'ids[]', 'Order Id', 'k'.repeat(65), 'größe', ''])(
  'Anthropic refuses a property named %j',
  (name) => {
    expect(faultsOf('anthropic', of('id', name))).toEqual([`property_name /properties/${name}`])
    expect(faultsOf('bedrock', of('id', name))).toEqual([`property_name /properties/${name}`])
    expect(faultsOf('openai', of('id', name))).toEqual([])
  },
)

test('names are found at every depth, and not among values', () => {
  const schema = {
    type: 'object',
    properties: {
      list: { type: 'array', items: { anyOf: [of('a b')] } },
      enum: { enum: [{ properties: { 'not a name': 1 } }] },
    },
    $defs: { 'not a property': of('c/d') },
    required: ['list'],
    default: { properties: { 'a value': 1 } },
  } as JsonSchema
  expect(faultsOf('anthropic', schema)).toEqual([
    'property_name /properties/list/items/anyOf/0/properties/a b',
    'property_name /$defs/not a property/properties/c~1d',
  ])
})

test('combinations are refused at the root only', () => {
  const schema = { anyOf: [of('a')], not: {}, properties: { a: { oneOf: [true] } } } as JsonSchema
  expect(faultsOf('anthropic', schema)).toEqual(['root_keyword /anyOf'])
  expect(faultsOf('openai', schema)).toEqual(['root_keyword /anyOf', 'root_keyword /not'])
  expect(faultsOf('gemini', schema)).toEqual([])
})
