import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { autoProvider } from '../../src/providers/auto.ts'
import type { ModelMessage } from '../../src/providers/provider.ts'
import { sampleValue } from '../../src/providers/sample.ts'
import { complete, requestWith, user } from './request.ts'

test('calls each tool once with arguments of the input, then answers', async () => {
  const tools = [
    {
      name: 'lookup',
      description: '',
      schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    },
    { name: 'ask_parent', description: '', schema: true },
    {
      name: 'refund',
      description: '',
      schema: {
        type: 'object',
        properties: { amount: { type: 'number' }, currency: { enum: ['EUR'] } },
        required: ['amount', 'currency'],
      },
    },
  ]
  const messages: ModelMessage[] = [user('Hello')]
  const seen: unknown[] = []
  for (let turn = 1; turn <= 3; turn++) {
    const { completion } = await complete(
      autoProvider,
      requestWith({ tools, messages, run: { turn, input: { order: 'A-1', amount: 180 } } }),
    )
    seen.push(completion.calls.length > 0 ? completion.calls : completion.text)
    messages.push({ role: 'assistant', text: completion.text, calls: completion.calls })
    for (const call of completion.calls)
      messages.push({ role: 'tool', callId: call.id, name: call.name, content: 'x', isError: call.name === 'refund' })
  }
  expect(seen).toEqual([
    [{ id: 'call_1_1', name: 'lookup', arguments: { order: 'A-1' } }],
    [{ id: 'call_2_1', name: 'refund', arguments: { amount: 180, currency: 'EUR' } }],
    'Done: lookup succeeded, refund failed.',
  ])
})

test('answers in the JSON that is asked for, strict or not', async () => {
  const schema = { type: 'object', properties: { total: { type: 'integer', minimum: 3 } }, required: ['total'] }
  expect((await complete(autoProvider, requestWith({ outputSchema: schema }))).completion.text).toBe('{"total":3}')
  expect(
    (await complete(autoProvider, requestWith({ run: { output: { format: 'json', schema } } }))).completion.text,
  ).toBe('{"total":3}')
  expect((await complete(autoProvider, requestWith({ run: { output: { format: 'json' } } }))).completion.text).toBe(
    '{}',
  )
  expect((await complete(autoProvider, requestWith({ run: { output: { format: 'text' } } }))).completion.text).toBe(
    'Done. No tool was called.',
  )
})

describe('a sample fits its schema', () => {
  const ajv = new Ajv2020({ strict: false })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  const given = { order: 'A-1042', customer: { email: 'ana@acme.example', age: 7 }, tags: ['a', 'b'] }
  const schemas: [JsonObject, unknown][] = [
    [{ type: 'object' }, {}],
    [{ properties: { order: { type: 'string', pattern: '^A-\\d+$' } }, required: ['order'] }, { order: 'A-1042' }],
    [{ properties: { order: { type: 'string', pattern: '^B-\\d{3}$' } }, required: ['order'] }, { order: 'B-000' }],
    [{ properties: { email: { type: 'string', format: 'email' } } }, { email: 'ana@acme.example' }],
    [{ properties: { age: { type: 'integer', minimum: 18 } }, required: ['age'] }, { age: 18 }],
    [{ properties: { tags: { type: 'array', items: { type: 'string' }, minItems: 1 } } }, { tags: ['a', 'b'] }],
    [{ type: 'array', items: { type: 'string', minLength: 9 }, minItems: 2 }, ['examplexx', 'examplexx']],
    [{ type: 'number', exclusiveMinimum: 0, maximum: 0.5 }, 0.25],
    [{ type: 'integer', multipleOf: 7, minimum: 8 }, 14],
    [{ type: 'integer', maximum: -5 }, -5],
    [{ type: 'string', format: 'date-time' }, '2026-01-01T00:00:00Z'],
    [{ type: 'string', pattern: '^(EUR|USD) [1-9]\\d*\\.\\d{2}$' }, 'EUR 1.00'],
    [{ type: 'string', pattern: '^[a-z][a-z0-9_-]{2,}$' }, 'aaa'],
    [{ type: ['null', 'boolean'] }, true],
    [{ anyOf: [{ const: 'x' }, { type: 'number' }] }, 'x'],
    [
      {
        allOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { properties: { b: { enum: [2, 3] } }, required: ['b'] },
        ],
      },
      { b: 2, a: 1 },
    ],
    [
      {
        $defs: {
          node: {
            type: 'object',
            properties: { id: { type: 'integer' }, next: { $ref: '#/$defs/node' } },
            required: ['id'],
          },
        },
        $ref: '#/$defs/node',
      },
      { id: 1 },
    ],
  ]
  test.each(schemas)('%j', (schema, sample) => {
    expect(sampleValue(schema, given)).toEqual(sample)
    expect(ajv.validate(schema, sample)).toBe(true)
  })

  test('a schema that asks for an endless value has none', () => {
    expect(sampleValue({ properties: { next: { $ref: '#' } }, required: ['next'] }, {})).toBeUndefined()
  })
})
