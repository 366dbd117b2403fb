import { expect, test } from 'vitest'
import { contractFields } from '../../src/cli/runs/contract-fields.ts'

test('a contract is a list of its fields, nested ones after their object', () => {
  const contract = {
    type: 'object',
    required: ['order', 'lines'],
    properties: {
      order: { type: 'string', pattern: '^[A-Z]-[0-9]+$', description: 'Number of the order.' },
      amount: { type: 'number', exclusiveMinimum: 0, maximum: 500, default: 10 },
      customer: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 80 } } },
      lines: {
        type: 'array',
        minItems: 1,
        items: { type: 'object', required: ['sku'], properties: { sku: { enum: ['a', 'b'] } } },
      },
      tags: { type: 'array', items: { type: 'string' } },
      note: { type: ['string', 'null'] },
      kind: { const: 'refund' },
      extra: true,
    },
  }
  expect(contractFields(contract)).toEqual([
    { path: 'order', type: 'string', isRequired: true, about: 'Number of the order. (matches ^[A-Z]-[0-9]+$)' },
    { path: 'amount', type: 'number', isRequired: false, about: 'more than 0, at most 500, default 10' },
    { path: 'customer', type: 'object', isRequired: false, about: '' },
    { path: 'customer.name', type: 'string', isRequired: true, about: 'characters, at most 80' },
    { path: 'lines', type: 'array of object', isRequired: true, about: 'items, at least 1' },
    { path: 'lines[].sku', type: 'one of "a", "b"', isRequired: true, about: '' },
    { path: 'tags', type: 'array of string', isRequired: false, about: '' },
    { path: 'note', type: 'string or null', isRequired: false, about: '' },
    { path: 'kind', type: '"refund"', isRequired: false, about: '' },
    { path: 'extra', type: 'any', isRequired: false, about: '' },
  ])
})

test('a contract without properties is one row', () => {
  expect(contractFields({ oneOf: [{}, {}] })).toEqual([
    { path: '(input)', type: 'one of 2 shapes', isRequired: true, about: '' },
  ])
})

test('a deep or wide contract is cut', () => {
  let deep: object = { type: 'string' }
  for (let depth = 0; depth < 50; depth++) deep = { type: 'object', properties: { a: deep } }
  expect(contractFields(deep as Record<string, never>).map(({ path }) => path)).toEqual([
    'a',
    'a.a',
    'a.a.a',
    'a.a.a.a',
  ])
  const wide = {
    properties: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, { type: 'string' }])),
  }
  expect(contractFields(wide)).toHaveLength(100)
})
