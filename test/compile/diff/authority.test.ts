import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/base/json.ts'
import { compareAuthority, replay, type Authority, type Version } from '../../../src/compile/diff/authority.ts'
import type { Callee, Context } from '../../../src/compile/diff/callee.ts'
import { isLooser } from '../../../src/compile/diff/strictness.ts'
import type { SideEffectClass } from '../../../src/spec/document.ts'
import type { PolicyEntry } from '../../../src/spec/policy-set.ts'
import type { JsonSchema, Snapshot } from '../../../src/spec/snapshot.ts'
import { checkValue } from '../../../src/tools/check.ts'
import { makeEntry, makeSet } from '../../policy/make.ts'

const AMOUNT: JsonSchema = {
  type: 'object',
  properties: { amount: { type: 'number', minimum: 0 }, currency: { enum: ['EUR', 'USD'] } },
  required: ['amount'],
  additionalProperties: false,
}

interface Made {
  readonly schema?: JsonSchema
  readonly sideEffectClass?: SideEffectClass
  readonly version?: string
  readonly inherited?: readonly PolicyEntry[]
}

function version(
  entries: readonly PolicyEntry[],
  { schema, sideEffectClass, version = '1.0.0', inherited }: Made = {},
): Version {
  const callee: Callee = {
    // Only what policies can ask of an agent is read.
    agent: { id: 'acme.desk', version, classifications: [], labels: {} } as unknown as Snapshot,
    kind: 'tool',
    wire: 'refunds',
    id: 'acme.refunds',
    ...(sideEffectClass && { sideEffectClass }),
    schemas: schema === undefined ? [] : [schema],
    facts: {
      id: 'acme.refunds',
      version: '1.0.0',
      wire_name: 'refunds',
      kind: 'tool',
      ...(sideEffectClass && { side_effect_class: sideEffectClass }),
      labels: {},
    },
    late: false,
  }
  return { callee, sets: { own: makeSet(entries), ancestors: inherited ? [makeSet([], inherited)] : [] } }
}

const gate = (when?: JsonObject, more: Partial<PolicyEntry> = {}): PolicyEntry =>
  makeEntry({ effect: 'require_approval', ...(when && { when }), ...more })
const above = (value: number, more: JsonObject = {}): PolicyEntry =>
  gate({ field: 'args.amount', op: 'gt', value, ...more })
const compare = (before: readonly PolicyEntry[], after: readonly PolicyEntry[], made: Made = { schema: AMOUNT }) =>
  compareAuthority(version(before, made), version(after, made))

describe('a limit', () => {
  test('that is raised is loosened, with a call that is let through now', () => {
    const { verdict, witness } = compare([above(100)], [above(250)])
    expect(verdict).toBe('loosened')
    expect(witness).toEqual({
      tool: 'acme.refunds',
      arguments: { amount: 250 },
      before: 'require_approval',
      after: 'allow',
    })
  })

  test('that is lowered is tightened', () => {
    expect(compare([above(250)], [above(100)])).toEqual({ verdict: 'tightened' })
  })

  test('that is written differently is equal', () => {
    const reworded = gate({ not: { field: 'amount', op: '<=', value: 100 } }, { reason: 'Above 100' })
    expect(compare([above(100)], [reworded])).toEqual({ verdict: 'equal' })
  })

  test('for whole numbers is equal where no whole number lies between', () => {
    const schema: JsonSchema = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] }
    expect(compare([above(100)], [gate({ field: 'amount', op: 'gte', value: 101 })], { schema })).toEqual({
      verdict: 'equal',
    })
    expect(compare([above(100)], [gate({ field: 'amount', op: 'gte', value: 101 })]).witness?.arguments).toEqual({
      amount: 100.5,
    })
  })

  test('that excuses absence is loosened only where the argument may be absent', () => {
    const excused = above(100, { if_missing: false })
    expect(compare([above(100)], [excused])).toEqual({ verdict: 'equal' })
    expect(compare([above(100)], [excused], {})).toEqual({
      verdict: 'loosened',
      witness: { tool: 'acme.refunds', arguments: {}, before: 'require_approval', after: 'allow' },
    })
  })
})

describe('a gate', () => {
  test('that is added is tightened, that is removed loosened', () => {
    expect(compare([], [above(100)]).verdict).toBe('tightened')
    expect(compare([above(100)], []).verdict).toBe('loosened')
  })

  test('that becomes weaker is loosened, though the call is still stopped', () => {
    expect(compare([makeEntry({ effect: 'deny' })], [gate()]).witness).toMatchObject({
      before: 'deny',
      after: 'require_approval',
    })
    const two = gate(undefined, { obligations: { approvals_required: 2 } })
    expect(compare([two], [gate()])).toMatchObject({
      verdict: 'loosened',
      witness: { before: 'require_approval', after: 'require_approval' },
    })
    expect(compare([gate()], [two])).toEqual({ verdict: 'tightened' })
  })

  test('behind another that stops everything makes no difference', () => {
    const wall = makeEntry({ effect: 'deny', policy: 'acme.wall' })
    expect(compare([wall, above(100)], [wall])).toEqual({ verdict: 'equal' })
  })

  test('of an ancestor counts', () => {
    const made = { schema: AMOUNT }
    const before = version([], { ...made, inherited: [above(100)] })
    expect(compareAuthority(before, version([], { ...made, inherited: [above(250)] })).verdict).toBe('loosened')
    expect(compareAuthority(before, version([above(50)], { ...made, inherited: [] })).verdict).toBe('tightened')
  })
})

describe('the default of a class', () => {
  test('that no longer asks is loosened', () => {
    const before = version([], { schema: AMOUNT, sideEffectClass: 'irreversible_action' })
    const after = version([], { schema: AMOUNT, sideEffectClass: 'idempotent_write' })
    expect(compareAuthority(before, after)).toMatchObject({
      verdict: 'loosened',
      witness: { before: 'require_approval', after: 'allow' },
    })
    expect(compareAuthority(after, before)).toEqual({ verdict: 'tightened' })
  })

  test('that a grant lifts is loosened', () => {
    const grant = makeEntry({ effect: 'grant', when: { field: 'amount', op: 'lte', value: 10 } })
    const made = { schema: AMOUNT, sideEffectClass: 'irreversible_action' } as const
    expect(compare([], [grant], made)).toMatchObject({ verdict: 'loosened', witness: { after: 'allow' } })
    expect(compare([grant], [], made)).toEqual({ verdict: 'tightened' })
  })
})

describe('what a call depends on beside its arguments', () => {
  test('is told with the witness', () => {
    const attempts = (value: number) => gate({ field: 'history.run.this_tool.attempts', op: 'gt', value })
    const { verdict, witness } = compare([attempts(3)], [attempts(5)])
    expect([verdict, witness?.context]).toEqual(['loosened', { 'history.run.this_tool.attempts': 5 }])
    expect(compare([attempts(5)], [attempts(3)])).toEqual({ verdict: 'tightened' })
  })

  test('a version that policies ask for is known', () => {
    const entry = gate({ field: 'agent.version', op: 'semver', value: '<2' })
    const [before, after] = ['1.0.0', '2.0.0'].map((each) => version([entry], { version: each })) as [Version, Version]
    expect(compareAuthority(before, after).verdict).toBe('loosened')
    expect(compareAuthority(after, before).verdict).toBe('tightened')
  })
})

describe('comparisons of which the cases cannot be listed', () => {
  const matches = (value: string) => gate({ field: 'currency', op: 'matches', value })

  test('are the same question in both versions', () => {
    expect(compare([matches('^E'), above(100)], [matches('^E'), above(50)])).toEqual({ verdict: 'tightened' })
    expect(compare([matches('^E'), above(100)], [matches('^E'), above(200)]).verdict).toBe('loosened')
  })

  test('are not proven where they differ and no call shows it', () => {
    const schema: JsonSchema = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] }
    const note = (value: string) => gate({ field: 'note', op: 'matches', value })
    expect(compare([note('^a{3,7}b$')], [note('^a{3,5}b$')], { schema })).toEqual({ verdict: 'not_proven' })
  })

  test.each([
    ['host(args.url)', 'eq', 'evil.example', 'host(args.url)', 'eq', 'bad.example'],
    ['args.url', 'starts_with', 'http://', 'args.url', 'starts_with', 'https://'],
    ['length(args.url)', 'gt', 5, 'length(args.url)', 'gt', 9],
    ['args.ip', 'cidr', '10.0.0.0/8', 'args.ip', 'cidr', '10.1.0.0/16'],
  ])('%s %s %s becoming %s %s %s has a witness', (field, op, value, otherField, otherOp, other) => {
    const before = gate({ field, op, value, if_missing: false })
    const after = gate({ field: otherField, op: otherOp, value: other, if_missing: false })
    expect(compare([before], [after], {}).verdict).toBe('loosened')
  })
})

test('a comparison too large to ask whole is proven by what changed', () => {
  const many = Array.from({ length: 30 }, (_, index) =>
    gate({ field: `args.f${index}`, op: 'gt', value: index, if_missing: false }),
  )
  expect(compare([...many, above(100)], [...many, above(50)], {})).toEqual({ verdict: 'tightened' })
  expect(compare([...many, above(100)], [...many, above(150)], {}).verdict).toBe('loosened')
})

// Random pairs

const FIELDS = ['args.a', 'args.b', 'args.c.d', 'run.depth', 'tool.side_effect_class', 'length(args.b)']
const literal = fc.constantFrom<JsonValue>(0, 1, 2, 10, 'x', 'y', true, null)
const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    field: fc.constantFrom(...FIELDS),
    op: fc.constantFrom('gt', 'lte', 'lt', 'gte'),
    value: fc.integer({ min: -2, max: 12 }),
  }),
  fc.record({ field: fc.constantFrom(...FIELDS), op: fc.constantFrom('eq', 'ne'), value: literal }),
  fc.record({
    field: fc.constantFrom(...FIELDS),
    op: fc.constantFrom('in', 'not_in'),
    value: fc.array(literal, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ field: fc.constantFrom('args.a', 'args.c.d'), op: fc.constant('exists') }),
  fc.record({
    field: fc.constantFrom('args.a', 'args.b'),
    op: fc.constantFrom('starts_with', 'contains'),
    value: fc.constantFrom('x', 'xy'),
  }),
  fc.record({
    field: fc.constantFrom('args.a', 'args.b'),
    op: fc.constant('gt'),
    value: fc.integer({ min: 0, max: 5 }),
    if_missing: fc.boolean(),
  }),
)
const condition: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 3, arbitrary: leaf },
  fc.record({ not: leaf }),
  fc.array(leaf, { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
  fc.array(leaf, { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
)
const entry: fc.Arbitrary<PolicyEntry> = fc.oneof(
  fc
    .record({
      effect: fc.constantFrom('deny', 'require_approval', 'escalate', 'grant' as const),
      when: condition,
      two: fc.boolean(),
    })
    .map(({ effect, when, two }) =>
      makeEntry({ effect: effect as 'deny', when, obligations: two ? { approvals_required: 2 } : {} }),
    ),
  fc
    .array(fc.constantFrom('x', 'y', '1'), { minLength: 1, maxLength: 2 })
    .map((values) =>
      makeEntry({ effect: 'restrict', allow: { field: 'args.a', values: [...new Set(values)].sort() } }),
    ),
)
const someSchema = fc.constantFrom<JsonSchema | undefined>(
  undefined,
  {
    type: 'object',
    properties: { a: { type: 'number', minimum: 0, maximum: 20 }, b: { type: 'string' } },
    required: ['a'],
  },
  { type: 'object', properties: { a: { enum: ['x', 'y', 1] } }, additionalProperties: false },
)
const someClass = fc.constantFrom<SideEffectClass | undefined>(undefined, 'read_only', 'irreversible_action')
const some = (value: fc.Arbitrary<JsonValue>) => fc.option(value, { nil: undefined })
const argument = fc.constantFrom<JsonValue>(
  -1,
  0,
  0.5,
  1,
  2,
  5,
  10,
  11,
  'x',
  'xy',
  'y',
  'zzzz',
  '',
  true,
  null,
  ['x'],
  2 ** 55,
)
const call = fc
  .record({ a: some(argument), b: some(argument), d: some(argument), depth: fc.integer({ min: 0, max: 12 }) })
  .map(({ a, b, d, depth }) => ({
    args: {
      ...(a !== undefined && { a }),
      ...(b !== undefined && { b }),
      ...(d !== undefined && { c: { d } }),
    } as JsonObject,
    context: { 'run.depth': depth },
  }))

/** What is wrong with a verdict, seen from calls that were not made up for it. */
function faultsOf(
  { verdict, witness }: Authority,
  before: Version,
  after: Version,
  calls: readonly { args: JsonObject; context: Context }[],
): readonly string[] {
  const accepted = (args: JsonObject): boolean =>
    after.callee.schemas.every((schema) => checkValue(schema, args).length === 0)
  const both = (args: JsonObject, context: Context = {}) => {
    const asked = { tool: 'acme.refunds', arguments: args, context, before: 'allow', after: 'allow' } as const
    return [replay(before, asked), replay(after, asked)] as const
  }
  if (witness) {
    const [was, is] = both(witness.arguments, witness.context)
    return [
      ...(verdict === 'loosened' ? [] : ['a witness of nothing']),
      ...(isLooser(was, is) ? [] : ['a witness that is not looser']),
      ...(was.decision === witness.before && is.decision === witness.after ? [] : ['a witness that decides otherwise']),
      ...(accepted(witness.arguments) ? [] : ['a witness that no schema accepts']),
    ]
  }
  const decided = calls.filter(({ args }) => accepted(args)).map(({ args, context }) => both(args, context))
  const [looser, stricter] = [
    decided.some(([was, is]) => isLooser(was, is)),
    decided.some(([was, is]) => isLooser(is, was)),
  ]
  return [
    ...(verdict === 'loosened' ? ['loosened without a witness'] : []),
    ...(verdict !== 'not_proven' && looser ? [`${verdict}, and looser`] : []),
    ...(verdict === 'equal' && stricter ? ['equal, and stricter'] : []),
  ]
}

test('a witness is always looser, and what is proven never is: 1,000 random pairs', () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(
      fc.tuple(fc.array(entry, { maxLength: 3 }), fc.array(entry, { maxLength: 3 }), fc.array(entry, { maxLength: 2 })),
      someSchema,
      fc.tuple(someClass, someClass),
      fc.array(call, { minLength: 20, maxLength: 20 }),
      ([first, second, common], schema, [wasClass, isClass], calls) => {
        const made = (sideEffectClass: SideEffectClass | undefined): Made => ({
          ...(schema !== undefined && { schema }),
          ...(sideEffectClass && { sideEffectClass }),
        })
        const before = version([...first, ...common], made(wasClass))
        const after = version([...second, ...common], made(isClass))
        const authority = compareAuthority(before, after)
        seen.set(authority.verdict, (seen.get(authority.verdict) ?? 0) + 1)
        expect(faultsOf(authority, before, after, calls)).toEqual([])
      },
    ),
    { numRuns: 1000, seed: 7 },
  )
  // Each verdict was met often enough to mean something.
  expect([...seen.keys()].sort()).toEqual(['equal', 'loosened', 'not_proven', 'tightened'])
  expect(seen.get('loosened')).toBeGreaterThan(200)
}, 60_000)
