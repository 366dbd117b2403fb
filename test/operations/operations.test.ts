/** The table of operations: every route is answered, and a schema says what its type says. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { findOperation, operations, type OperatorRoutes } from '../../src/operations/operations.ts'
import { addressOf } from '../../src/operations/request.ts'
import {
  bounded,
  described,
  either,
  extended,
  integer,
  integerFrom,
  list,
  nullable,
  object,
  oneOf,
  optional,
  optionalFields,
  shapeText,
  string,
  type TypedSchema,
  type ValueOf,
} from '../../src/operations/schema.ts'
import { triggerSettings } from '../../src/operations/triggers.ts'

const routes = Object.keys(operations)

test('the operator application has one line for each operation, and no other', () => {
  const table = readFileSync(resolve(import.meta.dirname, '../../src/server/operator-app.ts'), 'utf8')
  const lines = [...table.matchAll(/^ {2}'([A-Z]+ \/[^']*)': \w+,$/gm)].map((match) => match[1]!)
  expect(lines.toSorted()).toEqual(routes.toSorted())
})

test('only a route that changes nothing is a question, and a GET is one without saying so', () => {
  const questions = routes.filter((route) => findOperation(route)?.isQuestion)
  expect(questions.toSorted()).toEqual(['POST /decide', 'POST /lint', 'POST /runs/dry-fork', 'POST /what-if'])
  expect(findOperation('GET /v1/runs/:id')).toBeUndefined()
})

test('a GET takes no body', () => {
  expect(routes.filter((route) => route.startsWith('GET ') && findOperation(route)?.body !== undefined)).toEqual([])
})

test('a setting of a trigger is in the answer and in both requests', () => {
  const names = Object.keys(triggerSettings)
  const fieldsOf = (schema: TypedSchema<never>) => Object.keys(schema.schema['properties'] as object)
  for (const schema of [
    operations['POST /triggers'].body,
    operations['PATCH /triggers/:id'].body,
    operations['POST /triggers'].answer,
  ])
    expect(fieldsOf(schema)).toEqual(expect.arrayContaining(names))
  expectTypeOf<OperatorRoutes['PATCH /triggers/:id']['body']['allowDelete']>().toEqualTypeOf<boolean | undefined>()
  expectTypeOf<OperatorRoutes['POST /triggers']['answer']['allowDelete']>().toEqualTypeOf<boolean>()
})

/** What a schema accepts, what it refuses, and the shape that people read. */
const language: Readonly<
  Record<string, { schema: TypedSchema<never>; good: readonly unknown[]; bad: readonly unknown[]; shape: string }>
> = {
  'an object requires the fields that are not optional': {
    schema: object({ a: string, b: optional(integer) }),
    good: [{ a: '' }, { a: 'x', b: 1 }],
    bad: [{}, { a: 1 }, { a: '', b: '1' }],
    shape: '{a,b?}',
  },
  'optional fields may all be absent': {
    schema: object(optionalFields({ a: string, b: integer })),
    good: [{}, { b: 2 }],
    bad: [{ a: 1 }],
    shape: '{a?,b?}',
  },
  'a nullable number keeps its bounds': {
    schema: nullable(integerFrom(1, 5)),
    good: [null, 1, 5],
    bad: [0, 6, 'x', undefined],
    shape: '',
  },
  'a nullable word is one of its words or null': {
    schema: nullable(oneOf('a', 'b')),
    good: [null, 'a'],
    bad: ['c', 1],
    shape: '"a"|"b"',
  },
  'an extended object has the fields of both': {
    schema: extended(object({ a: string }), { b: integer, c: optional(string) }),
    good: [{ a: '', b: 1 }],
    bad: [{ a: '' }, { b: 1 }],
    shape: '{a,b,c?}',
  },
  'either of two objects requires what both have': {
    schema: either(object({ id: string, a: string }), object({ id: string, b: integer })),
    good: [
      { id: '', a: '' },
      { id: '', b: 1 },
    ],
    bad: [{ a: '' }, { id: '', b: 'x' }],
    shape: '{id,a?,b?}',
  },
  'a bound list counts its items': {
    schema: bounded(list(string), { maxItems: 1 }),
    good: [[], ['a']],
    bad: [['a', 'b']],
    shape: '',
  },
  'a description changes nothing but what is said': {
    schema: object({ a: described(optional(string), 'Why.') }),
    good: [{}],
    bad: [{ a: 1 }],
    shape: '{a?}',
  },
}

describe.each(Object.entries(language))('%s', (_, { schema, good, bad, shape }) => {
  const accepts = new Ajv2020({ strict: false }).compile(schema.schema)
  test('to a validator', () => {
    for (const value of good) expect([value, accepts(value)]).toEqual([value, true])
    for (const value of bad) expect([value, accepts(value)]).toEqual([value, false])
  })
  test('to a reader', () => expect(shapeText(schema.schema)).toBe(shape))
})

test('the type of a value is inferred from its schema', () => {
  const item = object({ a: string, b: optional(list(integer)), c: nullable(oneOf('x')) })
  expectTypeOf<{ readonly a: string; readonly b?: readonly number[]; readonly c: 'x' | null }>().toExtend<
    ValueOf<typeof item>
  >()
  // @ts-expect-error a field that must be there
  const missing: ValueOf<typeof item> = { a: '' }
  expect(missing).toEqual({ a: '' })
})

test('a route by its name becomes a path: an id is escaped, and parameters that are undefined are left out', () => {
  expect(addressOf('GET /runs/:id/step', { id: 'a/b', query: { ordinal: '3', after: undefined } })).toEqual({
    method: 'GET',
    path: '/runs/a%2Fb/step?ordinal=3',
  })
  expect(addressOf('POST /lint', {})).toEqual({ method: 'POST', path: '/lint' })
})
