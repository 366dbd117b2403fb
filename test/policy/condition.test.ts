import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import { comparesFact, leavesOf, readCondition, writeCondition } from '../../src/policy/condition/condition.ts'
import { conditionOf } from './make.ts'

const leaf = { field: 'amount', op: 'gt', value: 5 }
const nested = (depth: number): JsonValue => (depth === 1 ? leaf : { not: nested(depth - 1) })

describe('reading', () => {
  test('gives the tree of Kleene operators with parsed paths', () => {
    const payee = {
      path: { text: 'args.payee["odd key"]', root: 'args', segments: [{ key: 'payee' }, { key: 'odd key' }] },
      op: 'ne',
      value: 'x',
      ifMissing: false,
    }
    const amount = {
      path: { text: 'args.amount', root: 'args', segments: [{ key: 'amount' }], bare: true },
      op: 'gt',
      value: 5,
    }
    expect(
      readCondition(
        { all: [{ field: 'args.payee["odd key"]', op: '!=', value: 'x', if_missing: false }, { not: leaf }] },
        '/spec/conditions',
      ),
    ).toEqual({
      condition: { all: [{ leaf: payee }, { not: { leaf: amount } }] },
      leaves: [
        { pointer: '/spec/conditions/all/0', leaf: payee },
        { pointer: '/spec/conditions/all/1/not', leaf: amount },
      ],
      problems: [],
    })
  })

  test.each([
    [
      { field: 'amount', value: 5 },
      { field: 'args.amount', op: 'eq', value: 5 },
    ],
    [
      { field: 'args["amount"]', op: '>=', value: 5 },
      { field: 'args.amount', op: 'gte', value: 5 },
    ],
    [
      { field: "args['a b'][0]", op: 'exists', value: true },
      { field: 'args["a b"][0]', op: 'exists' },
    ],
    [
      { field: 'tags', op: 'eq', value: 'x', each: 'any' },
      { field: 'args.tags[*]', op: 'eq', value: 'x', each: 'any' },
    ],
    [
      { field: 'length( args.note )', op: 'lt', value: 3 },
      { field: 'length(args.note)', op: 'lt', value: 3 },
    ],
    [
      { field: 'history.window.this_tool.total(amount)', op: 'gt', value: 1, window: '600s' },
      { field: 'history.window.this_tool.total(args.amount)', op: 'gt', value: 1, window: '10m' },
    ],
    [
      { field: 'tool.labels["svc/data"]', value: 'private' },
      { field: 'tool.labels["svc/data"]', op: 'eq', value: 'private' },
    ],
    [
      {
        any: [
          { field: 'b', value: 1 },
          { field: 'a', value: 1 },
        ],
      },
      {
        any: [
          { field: 'args.a', op: 'eq', value: 1 },
          { field: 'args.b', op: 'eq', value: 1 },
        ],
      },
    ],
  ])('writes %j as %j', (given, canonical) => {
    expect(writeCondition(conditionOf(given))).toEqual(canonical)
    expect(writeCondition(conditionOf(canonical))).toEqual(canonical)
  })

  test.each<[JsonValue, string, string, string, { unknownKey: true }?]>([
    [{}, '', 'syntax', 'An empty condition says nothing; leave `conditions` out for always.'],
    [[leaf], '', 'syntax', 'A condition is a mapping: all, any, not, when, or a field to compare.'],
    [{ all: [] }, '/all', 'syntax', 'A list of conditions with at least one member belongs here.'],
    [{ all: [leaf], any: [leaf] }, '', 'syntax', 'all and any do not stand side by side: nest them.'],
    [{ not: leaf, field: 'x' }, '', 'syntax', 'Beside not there is nothing else in a condition.'],
    [
      { all: [leaf, { field: 'x', operator: 'gt', value: 5 }] },
      '/all/1/operator',
      'syntax',
      'A comparison has no key "operator"; it has field, op, value, each, if_missing, window, by.',
      { unknownKey: true },
    ],
    [{ op: 'gt', value: 5 }, '', 'syntax', 'A comparison names its `field`.'],
    [
      { field: 'run.dpth', value: 5 },
      '/field',
      'field',
      'run has no field "dpth"; it has depth, is_subagent, iteration, elapsed_seconds, tokens_used, trigger_type, taint.',
    ],
    [{ field: 'args..x', value: 5 }, '/field', 'syntax', '"args..x" is not a path: unexpected "." at 5.'],
    [
      { field: 'upper(x)', value: 5 },
      '/field',
      'field',
      'There is no function "upper"; there are length, lower, fold, host, email_domain.',
    ],
    [{ field: 'x', op: 'gt', value: '500' }, '/value', 'type', '`gt` compares numbers; its value is string "500".'],
    [
      { field: 'x', op: 'gt', value: 2 ** 53 },
      '/value',
      'type',
      '`gt` compares numbers; its value is number 9007199254740992.',
    ],
    [
      { field: 'x', op: 'in', value: [] },
      '/value',
      'type',
      '`in` takes a list of strings, numbers, booleans or null that is not empty; its value is an empty list.',
    ],
    [{ field: 'x' }, '', 'syntax', '`eq` needs a value.'],
    [{ field: 'x[*]', value: 1 }, '', 'syntax', 'args.x[*] stands for many values: say `each: any` or `each: all`.'],
    [
      { field: 'history.window.this_tool.attempts', op: 'gt', value: 3 },
      '',
      'syntax',
      'history.window.this_tool.attempts needs a `window`, for example 10m.',
    ],
    [
      { field: 'x', value: 1, window: '10m' },
      '/window',
      'syntax',
      '`window` belongs to history.window and history.workspace paths.',
    ],
    [{ field: 'x', value: 1, by: 'args.a' }, '/by', 'syntax', '`by` belongs to history paths.'],
    [
      { field: 'history.run.this_tool.executed', op: 'gt', value: 1, by: 'args.items[*]' },
      '/by',
      'syntax',
      '`by` is one argument path, for example args.customer.',
    ],
    [
      { field: 'history.workspace.this_tool.executed', op: 'gt', value: 1 },
      '',
      'syntax',
      'history.workspace.this_tool.executed needs a `window`, for example 10m.',
    ],
    [{ field: 'time.now', op: 'gt', value: 1 }, '/op', 'type', 'time.now is compared with `within`.'],
    [
      { field: 'time.now', op: 'within', value: { days: ['mon'], tz: 'Mars/Olympus' } },
      '/value',
      'type',
      'tz is not a time zone of the IANA database.',
    ],
    [nested(9), '/not/not/not/not/not/not/not/not', 'cost', 'Conditions are nested at most 8 deep.'],
    [
      { any: Array.from({ length: 65 }, () => leaf) },
      '/any',
      'cost',
      'A list has at most 64 conditions; this one has 65.',
    ],
    [
      { any: [1, 2, 3].map(() => ({ any: Array.from({ length: 64 }, () => leaf) })) },
      '',
      'cost',
      'A policy has at most 128 comparisons; there are 192.',
    ],
  ])('refuses %j', (given, pointer, code, message, more) => {
    expect(readCondition(given)).toEqual({ problems: [{ pointer, code, message, ...more }] })
  })

  test('names the pattern that is not RE2', () => {
    const { problems } = readCondition({ field: 'x', op: 'matches', value: '(?=x)' })
    expect(problems.map(({ pointer, code }) => [pointer, code])).toEqual([['/value', 'pattern']])
  })

  test('takes 8 levels and 128 leaves', () => {
    expect(readCondition(nested(8)).problems).toEqual([])
    expect(
      leavesOf(conditionOf({ any: [1, 2].map(() => ({ any: Array.from({ length: 64 }, () => leaf) })) })),
    ).toHaveLength(128)
  })
})

describe('which facts a condition compares', () => {
  const routed = { any: [leaf, { not: { field: 'svc.dispatch.trigger', op: 'eq', value: 'timeout' } }] }

  test.each([
    ['a fact below the field, at any depth', routed, 'svc', 'dispatch', true],
    ['another field of the root', routed, 'svc', 'limit', false],
    ['a root without a field', { field: 'source.to', op: 'eq', value: 'model' }, 'source', undefined, true],
    ['a text that only names the fact', { field: 'note', op: 'eq', value: 'svc.dispatch' }, 'svc', 'dispatch', false],
    ['a condition that cannot be read', { field: 'svc.dispatch.trigger', op: 'like' }, 'svc', 'dispatch', false],
  ] as const)('%s', (_, when, root, field, compares) => {
    expect(comparesFact(when, root, field)).toBe(compares)
  })
})
