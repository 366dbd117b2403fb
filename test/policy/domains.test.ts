import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { readPath, type ConditionPath } from '../../src/policy/condition/path.ts'
import { isAlwaysTrue, isSatisfiable } from '../../src/policy/prove/conditions.ts'
import { domainAt, finiteValues } from '../../src/policy/prove/domains.ts'
import { possibleValuesUnder, withoutSchema } from '../../src/policy/prove/possible-values.ts'
import { conditionOf } from './make.ts'

const pathOf = (text: string): ConditionPath => {
  const read = readPath(text)
  if ('problem' in read) throw new Error(read.problem)
  return read.path
}

const argument = (schema: JsonObject): JsonObject => ({ properties: { a: schema }, required: ['a'] })
const satisfiable = (schema: JsonObject, condition: JsonObject): boolean =>
  isSatisfiable(conditionOf(condition), possibleValuesUnder(argument(schema)))

describe('the values of an argument', () => {
  test('may be null where the schema says nullable', () => {
    expect(satisfiable({ type: 'string', nullable: true }, { field: 'a', value: null })).toBe(true)
    expect(satisfiable({ type: 'string' }, { field: 'a', value: null })).toBe(false)
  })

  test('may have any type where the schema names an unknown one', () => {
    expect(satisfiable({ type: 'text' }, { field: 'a', value: 1 })).toBe(true)
  })

  test('may be lists of themselves', () => {
    const schema: JsonObject = {
      ...argument({ $ref: '#/$defs/list' }),
      $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } },
    }
    const holds = (value: JsonValue): boolean =>
      isSatisfiable(conditionOf({ field: 'a', op: 'contains', value }), possibleValuesUnder(schema))
    expect([holds(1), holds('x')]).toEqual([false, false])
  })

  test('follow no reference below an id of its own', () => {
    const inner: JsonObject = { $id: 'https://x.example/', $ref: '#/$defs/one', $defs: { one: {} } }
    const schema: JsonObject = { ...argument({ allOf: [inner] }), $defs: { one: { const: 1 } } }
    expect(isSatisfiable(conditionOf({ field: 'a', value: 2 }), possibleValuesUnder(schema))).toBe(true)
  })

  test('cannot be read by an index, because arguments are an object', () => {
    expect(domainAt(pathOf('args[0]'), [{}])).toMatchObject({ absent: true, unreadable: true })
  })

  test('below a closed value of any type are unreadable or absent', () => {
    const closed = argument({ properties: {}, additionalProperties: false })
    const never = conditionOf({ field: 'a.b', op: 'ne', value: 1, if_missing: true })
    expect(domainAt(pathOf('args.a.b'), [closed])).toMatchObject({ absent: true, unreadable: true })
    expect(isAlwaysTrue(never, possibleValuesUnder(closed))).toBe(false)
  })

  test('of a list are those of its items', () => {
    const list = argument({ type: 'array', items: { enum: [1, 2] } })
    expect(domainAt(pathOf('args.a[0]'), [list])).toMatchObject({ absent: true, unreadable: false })
    expect(finiteValues(domainAt(pathOf('args.a[0]'), [list]))).toEqual([1, 2])
  })
})

describe('the values of another fact', () => {
  test.each<[string, boolean, readonly JsonValue[] | undefined]>([
    ['run.trigger_type', false, ['api', 'scheduled', 'operator']],
    ['svc.dispatch.trigger', false, ['none', 'no_handler', 'timeout', 'indeterminate']],
    ['run.taint', false, [true, false]],
    ['principal.trigger_name', true, undefined],
    ['tool.labels.team', true, undefined],
    ['agent.classifications[*]', false, undefined],
  ])('%s come from the table of facts', (text, absent, values) => {
    const domain = domainAt(pathOf(text), [])
    expect([domain.absent, domain.unreadable, finiteValues(domain)]).toEqual([absent, false, values])
  })

  test('are known below a function, too', () => {
    expect(isSatisfiable(conditionOf({ field: 'lower(run.trigger_type)', value: 'API' }), withoutSchema)).toBe(false)
    expect(isSatisfiable(conditionOf({ field: 'lower(run.trigger_type)', value: 'api' }), withoutSchema)).toBe(true)
  })
})
