import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { evaluateCondition } from '../../src/policy/condition/evaluate.ts'
import type { CallFacts } from '../../src/policy/condition/decision.ts'
import { conditionOf, makeFacts } from './make.ts'

const truth = (condition: JsonValue, facts: Parameters<typeof makeFacts>[0] = {}) =>
  evaluateCondition(conditionOf(condition), makeFacts(facts)).truth
const letter = { true: 'T', false: 'F', unknown: 'U' } as const

describe('the table of three-valued logic', () => {
  test.each<[string, JsonObject, string]>([
    ['gt 500', { field: 'amount', op: 'gt', value: 500 }, 'FTUU'],
    ['not gt 500', { not: { field: 'amount', op: 'gt', value: 500 } }, 'TFUU'],
    ['ne 5', { field: 'amount', op: 'ne', value: 5 }, 'FTUU'],
    ['exists', { field: 'amount', op: 'exists' }, 'TTFT'],
    ['gt 500, if_missing: false', { field: 'amount', op: 'gt', value: 500, if_missing: false }, 'FTFU'],
  ])('%s', (_, condition, row) => {
    const columns: JsonObject[] = [{ amount: 5 }, { amount: 900 }, {}, { amount: '900' }]
    expect(columns.map((args) => letter[truth(condition, { args })]).join('')).toBe(row)
  })
})

describe('three-valued logic', () => {
  const T = { field: 't', value: 1 }
  const F = { field: 't', value: 2 }
  const U = { field: 'nowhere', value: 1 }
  test.each<[string, JsonObject, string]>([
    ['all T U', { all: [T, U] }, 'unknown'],
    ['all F U', { all: [U, F] }, 'false'],
    ['any T U', { any: [U, T] }, 'true'],
    ['any F U', { any: [F, U] }, 'unknown'],
    ['not U', { not: U }, 'unknown'],
  ])('%s', (_, condition, expected) => {
    expect(truth(condition, { args: { t: 1 } })).toBe(expected)
  })

  test('each leaf is asked, and what it saw is kept from left to right', () => {
    expect(evaluateCondition(conditionOf({ any: [T, U, { not: F }] }), makeFacts({ args: { t: 1 } })).seen).toEqual([
      { truth: 'true', value: 1 },
      { truth: 'unknown', value: undefined },
      { truth: 'false', value: 1 },
    ])
  })
})

const long = 'x'.repeat(64 * 1024)

describe('comparisons', () => {
  test.each<[string, JsonObject, JsonValue, string]>([
    ['text is not a number', { op: 'eq', value: 900 }, '900', 'unknown'],
    ['nor is it another number', { op: 'ne', value: 900 }, '900', 'unknown'],
    ['null is no text', { op: 'ne', value: 'a' }, null, 'unknown'],
    ['whether something is null can be told', { op: 'ne', value: null }, 'a', 'true'],
    ['a number is not in a list of texts, nor outside', { op: 'not_in', value: ['US', 'CA'] }, 5, 'unknown'],
    ['a list is no mapping', { op: 'eq', value: [1] }, { 0: 1 }, 'unknown'],
    ['a list that differs', { op: 'eq', value: [1] }, [2], 'false'],
    ['case matters', { op: 'eq', value: 'DE' }, 'de', 'false'],
    ['lists by content', { op: 'eq', value: [1, { a: 1, b: 2 }] }, [1, { b: 2, a: 1 }], 'true'],
    ['null is a value', { op: 'eq', value: null }, null, 'true'],
    ['a number beyond 2^53 is unknown', { op: 'ne', value: 5 }, 2 ** 53, 'unknown'],
    ['a string of 64 KiB is read', { op: 'ne', value: 'y' }, long, 'true'],
    ['a longer one is unknown', { op: 'ne', value: 'y' }, `${long}x`, 'unknown'],
    ['length counts in bytes of UTF-8', { op: 'ne', value: 'y' }, 'é'.repeat(33_000), 'unknown'],
    ['in', { op: 'in', value: ['US', 'CA'] }, 'CA', 'true'],
    ['in, of a list', { op: 'in', value: ['US', 'CA'] }, ['CA'], 'unknown'],
    ['not_in', { op: 'not_in', value: ['US', 'CA'] }, 'DE', 'true'],
    ['contains in text', { op: 'contains', value: 'ell' }, 'hello', 'true'],
    ['contains in a list', { op: 'contains', value: 'ell' }, ['hello'], 'false'],
    ['contains in a number', { op: 'contains', value: '1' }, 12, 'unknown'],
    ['starts_with', { op: 'starts_with', value: 'a' }, 'abc', 'true'],
    ['ends_with', { op: 'ends_with', value: 'c' }, 'abc', 'true'],
    ['matches anywhere', { op: 'matches', value: 'b+' }, 'abbc', 'true'],
    ['matches with anchors', { op: 'matches', value: '^b+$' }, 'abbc', 'false'],
    ['matches what has lone surrogates', { op: 'matches', value: '^a$' }, '\ud800', 'false'],
    ['type integer', { op: 'type', value: 'integer' }, 5, 'true'],
    ['type of a fraction', { op: 'type', value: ['integer', 'string'] }, 5.5, 'false'],
    ['type of a list', { op: 'type', value: 'object' }, [], 'false'],
    ['exists sees null', { op: 'exists' }, null, 'true'],
    ['exists: false', { op: 'exists', value: false }, 1, 'false'],
    ['cidr', { op: 'cidr', value: '10.0.0.0/8' }, '10.1.2.3', 'true'],
    ['cidr, mapped address', { op: 'cidr', value: ['10.0.0.0/8'] }, '::ffff:10.1.2.3', 'true'],
    ['cidr, octal form', { op: 'cidr', value: '10.0.0.0/8' }, '012.1.2.3', 'unknown'],
    ['semver', { op: 'semver', value: '^1.2' }, '1.3.0', 'true'],
    ['semver of text', { op: 'semver', value: '^1.2' }, 'latest', 'unknown'],
  ])('%s', (_, condition, value, expected) => {
    expect(truth({ field: 'args.x', ...condition }, { args: { x: value } })).toBe(expected)
  })

  test.each<[string, JsonObject, JsonValue, string]>([
    ['length counts characters', { field: 'length(x)', value: 1 }, '😀', 'true'],
    ['length of a list', { field: 'length(x)', value: 2 }, [1, 2], 'true'],
    ['length of a number', { field: 'length(x)', value: 2 }, 2, 'unknown'],
    ['lower', { field: 'lower(x)', value: 'abc' }, 'ABC', 'true'],
    ['fold of another case', { field: 'fold(x)', value: 'evil strasse corp' }, ' EVIL Straße Corp', 'true'],
    ['fold of full-width letters', { field: 'fold(x)', value: 'evil' }, 'Ｅｖｉｌ', 'true'],
    ['fold of an invisible character', { field: 'fold(x)', value: 'evil' }, 'ev\u200bil', 'true'],
    ['fold of another name', { field: 'fold(x)', value: 'evil' }, 'evil corp', 'false'],
    ['fold of a number', { field: 'fold(x)', value: '5' }, 5, 'unknown'],
    ['host', { field: 'host(x)', value: 'good.example' }, 'HTTPS://user@Good.Example.:8443/a', 'true'],
    ['host in punycode', { field: 'host(x)', value: 'xn--mnchen-3ya.de' }, 'https://münchen.de', 'true'],
    [
      'host is not fooled by a prefix',
      { field: 'host(x)', value: 'good.example' },
      'https://good.example.evil/',
      'false',
    ],
    ['host of another scheme', { field: 'host(x)', value: 'a' }, 'ftp://a', 'unknown'],
    ['email_domain', { field: 'email_domain(x)', value: 'corp.com' }, 'Ana@CORP.com', 'true'],
    [
      'email_domain of two addresses',
      { field: 'email_domain(x)', value: 'corp.com' },
      'a@evil.com,b@corp.com',
      'unknown',
    ],
    ['no result is not absence', { field: 'host(x)', value: 'a', if_missing: false }, 'nowhere', 'unknown'],
    ['exists of a function without a result', { field: 'host(x)', op: 'exists' }, 'nowhere', 'false'],
  ])('%s', (_, condition, value, expected) => {
    expect(truth(condition, { args: { x: value } })).toBe(expected)
  })

  test('host of the same URL is the same in each of many decisions', () => {
    const condition = { field: 'host(x)', value: 'xn--mnchen-3ya.de' }
    const found = Array.from({ length: 10_000 }, () => truth(condition, { args: { x: 'https://münchen.de' } }))
    expect(new Set(found)).toEqual(new Set(['true']))
  })
})

describe('paths', () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    [
      'an absent member may be excused',
      { field: 'payee.country', value: 'DE', if_missing: false },
      { payee: {} },
      'false',
    ],
    [
      'a value that has no members may not',
      { field: 'payee.country', value: 'DE', if_missing: false },
      { payee: 'DE' },
      'unknown',
    ],
    ['nor may a list', { field: 'payee.length', value: 0, if_missing: false }, { payee: [] }, 'unknown'],
    ['inherited members are not seen', { field: 'constructor.name', value: 'Object' }, {}, 'unknown'],
    [
      '__proto__ is a name like any other',
      { field: '__proto__.x', value: 1 },
      JSON.parse('{"__proto__":{"x":1}}') as JsonObject,
      'true',
    ],
    ['an element', { field: 'items[1].sku', value: 'b' }, { items: [{ sku: 'a' }, { sku: 'b' }] }, 'true'],
    ['each any', { field: 'items[*].sku', each: 'any', value: 'b' }, { items: [{ sku: 'a' }, { sku: 'b' }] }, 'true'],
    ['each all', { field: 'items[*].sku', each: 'all', value: 'b' }, { items: [{ sku: 'a' }, { sku: 'b' }] }, 'false'],
    ['each any of nothing', { field: 'items[*].sku', each: 'any', value: 'b' }, { items: [] }, 'false'],
    ['each all of nothing', { field: 'items[*].sku', each: 'all', value: 'b' }, { items: [] }, 'unknown'],
    [
      'each, one without the member',
      { field: 'items[*].sku', each: 'all', value: 'b' },
      { items: [{ sku: 'b' }, {}] },
      'unknown',
    ],
    [
      'each, excused',
      { field: 'items[*].sku', each: 'all', value: 'b', if_missing: true },
      { items: [{ sku: 'b' }, {}] },
      'true',
    ],
    [
      'each of what is no list',
      { field: 'items[*].sku', each: 'any', value: 'b', if_missing: false },
      { items: 5 },
      'unknown',
    ],
    [
      'each of each',
      { field: 'a[*].b[*]', each: 'all', op: 'gt', value: 1 },
      { a: [{ b: [2, 3] }, { b: [1] }] },
      'false',
    ],
  ])('%s', (_, condition, args, expected) => {
    expect(truth(condition, { args })).toBe(expected)
  })

  test.each<[JsonObject, string]>([
    [{ field: 'tool.namespace', value: 'acme' }, 'true'],
    [{ field: 'tool.name', value: 'refunds' }, 'true'],
    [{ field: 'tool.labels["svc/data"]', value: 'private' }, 'true'],
    [{ field: 'tool.mcp_server', op: 'exists' }, 'false'],
    [{ field: 'agent.classifications', op: 'contains', value: 'pii' }, 'true'],
    [{ field: 'agent.risk_tier', value: 'low' }, 'unknown'],
    [{ field: 'run.taint', value: false }, 'true'],
    [{ field: 'principal.trigger_name', value: 'api' }, 'true'],
    [{ field: 'svc.dispatch.trigger', value: 'timeout' }, 'false'],
    [{ field: 'svc.limit', value: 'none' }, 'true'],
  ])('%j is %s', (condition, expected) => {
    expect(truth(condition)).toBe(expected)
  })

  test('history asks for scope, calls, measure and window', () => {
    const asked: unknown[] = []
    const history: CallFacts['history'] = (...question) => {
      asked.push(question)
      return 3
    }
    expect(
      truth({ field: 'history.window.same_args.total(amount)', op: 'gte', value: 3, window: '1h' }, { history }),
    ).toBe('true')
    expect(asked).toEqual([['window', 'same_args', { total: 'args.amount' }, 3_600_000, undefined]])
  })

  test('a measure that cannot be told is unknown, excused or not', () => {
    expect(
      truth(
        { field: 'history.run.this_tool.failed', op: 'gt', value: 3, if_missing: false },
        { history: () => undefined },
      ),
    ).toBe('unknown')
  })
})

describe('within', () => {
  const at = (text: string) => ({ now: Date.parse(text) })
  test.each<[string, JsonObject, string, string]>([
    ['office hours', { days: ['wed'], from: '09:00', to: '17:00', tz: 'UTC' }, '2026-01-14T09:00:00Z', 'true'],
    ['the end is out', { from: '09:00', to: '17:00' }, '2026-01-14T17:00:00Z', 'false'],
    ['the zone shifts the day', { days: ['thu'], tz: 'Asia/Tokyo' }, '2026-01-14T16:00:00Z', 'true'],
    ['summer time is known', { from: '09:00', to: '10:00', tz: 'Europe/Berlin' }, '2026-07-15T07:30:00Z', 'true'],
    [
      'a night belongs to the day it began',
      { days: ['fri'], from: '22:00', to: '06:00' },
      '2026-01-17T02:00:00Z',
      'true',
    ],
    ['and not to the day it ends', { days: ['sat'], from: '22:00', to: '06:00' }, '2026-01-17T02:00:00Z', 'false'],
    ['until midnight', { from: '20:00', to: '24:00' }, '2026-01-14T23:59:59Z', 'true'],
  ])('%s', (_, value, now, expected) => {
    expect(truth({ field: 'time.now', op: 'within', value }, at(now))).toBe(expected)
  })
})
