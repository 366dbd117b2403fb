/** Tools in forms that vendors take: exactly as strict as before, and arguments come back as the tool knows them. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { toOwnCall, toToolForms, toWireCall, withVendorToolForms } from '../../src/providers/vendor-tool-forms.ts'
import type { ModelTool } from '../../src/providers/provider.ts'
import type { JsonSchema } from '../../src/spec/snapshot.ts'
import { findToolSchemaFaults, vendorToolLimits, type VendorToolLimits } from '../../src/spec/vendor-tool-limits.ts'
import type { FakeModel } from '../fakes/model-server.ts'
import { complete, requestWith } from './request.ts'
import { vendors } from './vendors.ts'
import { cases } from '../cases.ts'

const LIMITED = ['anthropic', 'bedrock', 'openai', 'azure-openai', 'gemini'] as const
const limitsOf = (vendor: string) => vendorToolLimits(vendor)!

/** Without the empty one, which the checker takes for a property that is always there. */
const anyName = fc.oneof(
  fc.constantFrom(
    'id',
    '$filter',
    'ids[]',
    'Order Id',
    'order/id~x',
    'größe',
    '__proto__',
    'properties',
    'k'.repeat(65),
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
)
const anyValue = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b'), fc.boolean())

/** A schema of objects under any names, with references, conditions and values that have these names. */
const anySchema: fc.Arbitrary<JsonObject> = fc
  .letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonObject>(
        { type: 'integer' },
        { type: 'string' },
        {},
        { $ref: '#/$defs/shared' },
        { $ref: '#' },
      ),
      tie('object'),
      tie('schema').map((items) => ({ type: 'array', items })),
      fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
    ),
    object: fc
      .record({
        entries: fc.uniqueArray(fc.tuple(anyName, tie('schema')), { selector: ([name]) => name, maxLength: 3 }),
        isClosed: fc.boolean(),
        isRequired: fc.boolean(),
        given: anyValue,
        keyword: fc.constantFrom('anyOf', 'oneOf', 'allOf', 'not', 'none'),
      })
      .map(({ entries, isClosed, isRequired, given, keyword }) => {
        const names = entries.map(([name]) => name)
        return {
          type: 'object',
          properties: Object.fromEntries(entries),
          ...(isClosed && { additionalProperties: false }),
          ...(isRequired && { required: names }),
          ...(names.length > 1 && { dependentRequired: { [names[0]!]: [names[1]!] } }),
          ...(keyword === 'not' && { not: { const: Object.fromEntries(names.map((name) => [name, given])) } }),
          ...(['anyOf', 'oneOf', 'allOf'].includes(keyword) && { [keyword]: [{ required: names }, {}] }),
        }
      }),
  }))
  .object.map((object) => ({
    ...object,
    $defs: { shared: { type: 'object', properties: { 'a b': { type: 'integer' } } } },
  }))

/** A value of these names at any depth, right or wrong. */
const valueFor = (schema: JsonObject): fc.Arbitrary<JsonObject> => {
  const names = new Set(['a b', 'other'])
  JSON.stringify(schema, (key, value: JsonValue) => (names.add(key), value))
  return fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      anyValue,
      tie('object'),
      fc.array(tie('value'), { maxLength: 2 }),
    ) as fc.Arbitrary<JsonValue>,
    object: fc
      .array(fc.tuple(fc.constantFrom(...names), tie('value')), { maxLength: 3 })
      .map((members): JsonObject => Object.fromEntries(members)),
  })).object
}

const accepts = (schema: JsonSchema, value: JsonValue): boolean =>
  new Ajv2020({ strict: false, logger: false }).validate(schema, value)

const toolOf = (schema: JsonSchema, name = 'look'): ModelTool => ({ name, description: 'Looks.', schema })

test.each(LIMITED)(
  '%s takes every form, which accepts exactly what the schema accepts, and arguments come back',
  (vendor) => {
    const limits = limitsOf(vendor)
    fc.assert(
      fc.property(
        anySchema.chain((schema) => fc.tuple(fc.constant(schema), valueFor(schema))),
        ([schema, value]) => {
          const [form] = toToolForms(limits, [toolOf(schema)])
          expect(findToolSchemaFaults(limits, form!.wire.schema)).toEqual([])
          const call = { id: 'c', name: 'look', arguments: value }
          const sent = toWireCall(call, form)
          expect(accepts(form!.wire.schema, sent.arguments)).toBe(accepts(schema, value))
          expect(toOwnCall(sent, form)).toEqual(call)
          const isTaken = findToolSchemaFaults(limits, schema).length === 0
          expect(!isTaken || isDeepStrictEqual(form!.wire, form!.own)).toBe(true)
        },
      ),
      { numRuns: cases(50) },
    )
  },
)

test('names on the wire show the name, and two names never become one', () => {
  const names = ['Order Id', 'order/id', 'größe', '', '1st', 'ids[]', 'Order_Id']
  const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }
  const [form] = toToolForms(limitsOf('anthropic'), [toolOf(schema)])
  const wire = Object.keys((form!.wire.schema as JsonObject)['properties'] as JsonObject)
  expect(wire.map((name) => name.replace(/_[0-9a-f]{4}$/, '_#'))).toEqual([
    'Order_Id_#',
    'order_id_#',
    'gr_e_#',
    'name_#',
    '1st',
    'ids_#',
    'Order_Id',
  ])
})

test('arguments that leave out the wrapper are taken as they are, and text that is no JSON stays', () => {
  const schema = { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] }
  const [form] = toToolForms(limitsOf('openai'), [toolOf(schema)])
  const back = (given: JsonValue): JsonValue => toOwnCall({ id: 'c', name: 'look', arguments: given }, form).arguments
  expect(back({ input: { a: 1 } })).toEqual({ a: 1 })
  expect(back({ a: 1 })).toEqual({ a: 1 })
  expect(back({ a: 1, input: 2 })).toEqual({ a: 1, input: 2 })
  expect(back({ $unparsed: '{"a":' })).toEqual({ $unparsed: '{"a":' })
})

describe('on the wire', () => {
  let server: FakeModel | undefined
  afterEach(() => server?.close())

  const schema = {
    type: 'object',
    properties: { 'Order Id': { type: 'string', enum: ['A 1'] } },
    oneOf: [{ required: ['Order Id'] }, { maxProperties: 0 }],
  }
  const tools = [toolOf(schema, '9look'), { ...toolOf({ type: 'object' }, 'plain'), description: 'x'.repeat(2000) }]
  const order = { 'Order Id': 'A 1' }

  test.each(vendors)(
    '$type gets tools that it takes, and the call has the names of the tool',
    async ({ type, model, start, open }) => {
      const limits = vendorToolLimits(type)
      server = await start(({ body }) => {
        const [tool] = toolsIn(body as JsonObject)
        // The model calls what it was given.
        const args =
          limits && findToolSchemaFaults(limits, schema).some(({ kind }) => kind === 'root_keyword')
            ? { input: order }
            : order
        const names = new Map(
          JSON.stringify(tool)
            .match(/Order_Id_[0-9a-f]{4}/g)
            ?.map((name) => ['Order Id', name]),
        )
        const text = [...names].reduce((json, [own, wire]) => json.replaceAll(own, wire), JSON.stringify(args))
        return { calls: [{ id: 'c1', name: tool!.name, arguments: JSON.parse(text) as JsonObject }] }
      })
      const provider = withVendorToolForms(open(server.url), limits)
      const messages = [
        { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Look.' }] },
        { role: 'assistant' as const, text: '', calls: [{ id: 'c0', name: '9look', arguments: order }] },
        { role: 'tool' as const, callId: 'c0', name: '9look', content: 'seen', isError: false },
      ]
      const { completion } = await complete(provider, requestWith({ model: { name: model }, tools, messages }))
      expect(completion.calls).toMatchObject([{ name: '9look', arguments: order }])
      for (const [at, { name, schema: sent, description }] of toolsIn(
        server.requests[0]!.body as JsonObject,
      ).entries()) {
        const taken: VendorToolLimits = limits ?? { vendor: 'a compatible server', source: '', date: '' }
        expect(findToolSchemaFaults(taken, sent)).toEqual([])
        expect(name).toMatch(taken.toolName ?? tools[at]!.name)
        expect(description.length).toBe(Math.min(tools[at]!.description.length, taken.longestDescription ?? Infinity))
      }
      // What was called before has the same names, or the model would not know it again.
      const isRenamed = limits?.propertyName !== undefined
      expect(JSON.stringify(server.requests[0]!.body).includes('"Order Id"')).toBe(!isRenamed)
    },
  )

  test('a refused request with too many tools says so; one that is not refused goes on', async () => {
    const { start, open } = vendors[0]!
    const many = Array.from({ length: 130 }, (_, at) => toolOf({ type: 'object' }, `t${at}`))
    server = await start([{ status: 400, error: { message: 'Array too long.' } }, { say: 'Fine.' }])
    const provider = withVendorToolForms(open(server.url), limitsOf('openai'))
    const request = requestWith({ model: { name: 'gpt-5' }, tools: many })
    await expect(complete(provider, request)).rejects.toMatchObject({
      status: 400,
      retryable: false,
      message:
        'The model provider answered 400: Array too long. OpenAI takes at most 128 tools, and this request has 130: give groups of tools to sub-agents.',
    })
    expect((await complete(provider, request)).completion.text).toBe('Fine.')
  })

  test.each([
    ['A FunctionDeclaration in the request exceeds the maximum allowed nesting depth.', true],
    ['The specified schema produces a constraint that has too many states for serving.', true],
    ['Request contains an invalid argument.', false],
  ])('Gemini says %s of tools, and svc says which: %s', async (message, isNamed) => {
    const { start, open } = vendors.find(({ type }) => type === 'gemini')!
    const deep = toolOf(
      { type: 'object', properties: { a: { type: 'object', properties: { b: { items: {} } } } } },
      'deep',
    )
    const long = toolOf({ type: 'object', description: 'x'.repeat(500) }, 'long')
    server = await start([{ status: 400, error: { message } }])
    const provider = withVendorToolForms(open(server.url), limitsOf('gemini'))
    const refusal = (await complete(
      provider,
      requestWith({ model: { name: 'gemini-3-pro' }, tools: [long, deep] }),
    ).catch((error: unknown) => error)) as Error
    expect(refusal.message).toContain(message.replace(/[.]$/, ''))
    expect(
      refusal.message.includes('The deepest schema is that of "deep" (6 levels), the longest that of "long" ('),
    ).toBe(isNamed)
  })
})

/** The tools of a request, in the form of any vendor. */
function toolsIn(body: JsonObject): { name: string; description: string; schema: JsonObject }[] {
  const found: { name: string; description: string; schema: JsonObject }[] = []
  const visit = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach(visit)
    const { name, description } = value as { name: string; description: string }
    const schema = [
      value['parameters'],
      value['input_schema'],
      value['parametersJsonSchema'],
      value['inputSchema'],
    ].find(Boolean)
    if (typeof name !== 'string' || schema === undefined) return Object.values(value).forEach(visit)
    const inner = schema as JsonObject
    found.push({ name, description, schema: (inner['json'] ?? inner) as JsonObject })
  }
  visit(body['tools'] ?? body['toolConfig'] ?? body)
  return found
}
