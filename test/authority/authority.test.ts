import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { compareAuthority, type AuthorityComparison } from '../../src/authority/authority.ts'
import type { ComparedCallee, ComparedVersion } from '../../src/authority/callee.ts'
import { replayWitness } from '../../src/authority/witness.ts'
import type { CallContext } from '../../src/policy/condition/first-call.ts'
import { isLooser } from '../../src/authority/strictness.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import type { JsonSchema, AgentSnapshot } from '../../src/spec/snapshot.ts'
import { checkValue } from '../../src/tools/check/check.ts'
import { makeEntry, makeSet } from '../policy/make.ts'
import { cases } from '../cases.ts'

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
): ComparedVersion {
  const callee: ComparedCallee = {
    // Only what policies can ask of an agent is read.
    agent: { id: 'acme.desk', version, classifications: [], labels: {} } as unknown as AgentSnapshot,
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
  test('that is raised is loosened, with a call that now passes', () => {
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

  test('for integers is equal if no integer lies between', () => {
    const schema: JsonSchema = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] }
    expect(compare([above(100)], [gate({ field: 'amount', op: 'gte', value: 101 })], { schema })).toEqual({
      verdict: 'equal',
    })
    expect(compare([above(100)], [gate({ field: 'amount', op: 'gte', value: 101 })]).witness?.arguments).toEqual({
      amount: 100.5,
    })
  })

  test('that allows absence is loosened only if the argument may be absent', () => {
    const excused = above(100, { if_missing: false })
    expect(compare([above(100)], [excused])).toEqual({ verdict: 'equal' })
    expect(compare([above(100)], [excused], {})).toEqual({
      verdict: 'loosened',
      witness: { tool: 'acme.refunds', arguments: {}, before: 'require_approval', after: 'allow' },
    })
  })
})

describe('a member that a closed object lacks', () => {
  test('is not absent but unreadable where the value need not be an object, so its gate fires', () => {
    const schema: JsonSchema = { properties: { receiver: { properties: {}, additionalProperties: false } } }
    const barred = gate({ field: 'args.receiver.id', value: 1, if_missing: false })
    expect(compare([barred], [], { schema })).toEqual({
      verdict: 'loosened',
      witness: {
        tool: 'acme.refunds',
        arguments: { receiver: 'unreadable' },
        before: 'require_approval',
        after: 'allow',
      },
    })
    const objects: JsonSchema = {
      properties: { receiver: { type: 'object', properties: {}, additionalProperties: false } },
    }
    expect(compare([barred], [], { schema: objects })).toEqual({ verdict: 'equal' })
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

  test('behind another gate that stops everything makes no difference', () => {
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
  test('that no longer requires approval is loosened', () => {
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

describe('facts other than arguments', () => {
  test('are reported with the witness', () => {
    const attempts = (value: number) => gate({ field: 'history.run.this_tool.attempts', op: 'gt', value })
    const { verdict, witness } = compare([attempts(3)], [attempts(5)])
    expect([verdict, witness?.context]).toEqual(['loosened', { 'history.run.this_tool.attempts': 5 }])
    expect(compare([attempts(5)], [attempts(3)])).toEqual({ verdict: 'tightened' })
  })

  test('a version that policies compare is known', () => {
    const entry = gate({ field: 'agent.version', op: 'semver', value: '<2' })
    const [before, after] = ['1.0.0', '2.0.0'].map((each) => version([entry], { version: each })) as [
      ComparedVersion,
      ComparedVersion,
    ]
    expect(compareAuthority(before, after).verdict).toBe('loosened')
    expect(compareAuthority(after, before).verdict).toBe('tightened')
  })
})

describe('comparisons whose cases cannot be listed', () => {
  const matches = (value: string) => gate({ field: 'currency', op: 'matches', value })

  test('are the same question in both versions', () => {
    expect(compare([matches('^E'), above(100)], [matches('^E'), above(50)])).toEqual({ verdict: 'tightened' })
    expect(compare([matches('^E'), above(100)], [matches('^E'), above(200)]).verdict).toBe('loosened')
  })

  test('are not proven if they differ and no call shows it', () => {
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

test('a comparison with too many cases is proven by the changed policies', () => {
  const many = Array.from({ length: 30 }, (_, index) =>
    gate({ field: `args.f${index}`, op: 'gt', value: index, if_missing: false }),
  )
  expect(compare([...many, above(100)], [...many, above(50)], {})).toEqual({ verdict: 'tightened' })
  expect(compare([...many, above(100)], [...many, above(150)], {}).verdict).toBe('loosened')
})

describe('values that a schema describes narrowly', () => {
  const COUNTRY: JsonSchema = {
    type: 'object',
    properties: { country: { type: 'string', minLength: 2, maxLength: 2 }, amount: { type: 'number', minimum: 0 } },
    required: ['country', 'amount'],
    additionalProperties: false,
  }
  const schema = COUNTRY
  const other = (op: string, value: JsonValue): JsonObject => ({ field: 'country', op, value })
  const amount = (op: string, value: number): JsonObject => ({ field: 'amount', op, value })

  test('other than the compared one still exist: a gate on all countries but one becomes a gate on one', () => {
    expect(compare([gate(other('ne', 'DE'))], [gate(other('eq', 'US'))], { schema })).toEqual({
      verdict: 'loosened',
      witness: {
        tool: 'acme.refunds',
        arguments: { country: 'co', amount: 1 },
        before: 'require_approval',
        after: 'allow',
      },
    })
  })

  test('a grant for one country becomes a grant for any', () => {
    const grant = (when: JsonObject): PolicyEntry => makeEntry({ effect: 'grant', when })
    const made = { schema, sideEffectClass: 'irreversible_action' } as const
    expect(
      compare([grant({ all: [other('in', ['DE']), amount('lt', 50)] })], [grant(amount('lt', 50))], made),
    ).toMatchObject({ verdict: 'loosened', witness: { before: 'require_approval', after: 'allow' } })
  })

  test('hide no loosening of another field', () => {
    const before = gate({ all: [other('ne', 'GERMANY'), amount('gt', 100)] })
    expect(compare([before], [gate(amount('gt', 100_000))], { schema })).toMatchObject({
      verdict: 'loosened',
      witness: { before: 'require_approval', after: 'allow' },
    })
    // No country has seven letters, so the first comparison is always true; that is more than is proven here.
    expect(compare([before], [gate(amount('gt', 50))], { schema })).toEqual({ verdict: 'tightened' })
  })

  test.each<[string, JsonSchema, JsonObject, JsonObject]>([
    [
      'null where a schema is nullable',
      { type: 'string', maxLength: 2, nullable: true },
      { value: null },
      { op: 'exists', value: false },
    ],
    ['numbers beyond 2^53', { type: 'number', maximum: 2 ** 54 }, { op: 'lt', value: 5 }, { op: 'lte', value: 4 }],
    ['texts of many bytes and few characters', { type: 'string', maxLength: 20_000 }, { value: 'x' }, { value: 'y' }],
    ['what matches a pattern', { type: 'string', pattern: '^[A-Z]{3}$' }, { op: 'ne', value: 'EUR' }, { value: 'USD' }],
  ])('%s', (_, country, before, after) => {
    const narrow: JsonSchema = { type: 'object', properties: { country }, required: ['country'] }
    const field = 'country'
    expect(compare([gate({ field, ...before })], [gate({ field, ...after })], { schema: narrow }).verdict).toBe(
      'loosened',
    )
  })

  test('do not exist if a schema lists all values, so the versions are equal', () => {
    const listed: JsonSchema = {
      type: 'object',
      properties: { country: { enum: ['DE', 'US'] } },
      required: ['country'],
    }
    expect(compare([gate(other('ne', 'DE'))], [gate(other('eq', 'US'))], { schema: listed })).toEqual({
      verdict: 'equal',
    })
  })

  test('are not proven if a schema leaves none', () => {
    const none: JsonSchema = { type: 'object', properties: { country: { enum: [] } }, required: ['country'] }
    expect(compare([gate(other('ne', 'DE'))], [gate(other('eq', 'US'))], { schema: none })).toEqual({
      verdict: 'not_proven',
    })
  })
})

test('elements of a value that is not a list are unknown, so a gate on them fires', () => {
  const both = { field: 'args.items[*]', op: 'exists', each: 'any' }
  expect(compare([gate({ all: [both, { not: both }] })], [], {})).toEqual({
    verdict: 'loosened',
    witness: {
      tool: 'acme.refunds',
      arguments: { items: 'unreadable' },
      before: 'require_approval',
      after: 'allow',
    },
  })
})

describe('calls that only the later input schema accepts', () => {
  const limited = (more: JsonObject, properties: JsonObject = {}): JsonSchema => ({
    type: 'object',
    properties: { amount: { type: 'number', minimum: 0, ...more }, ...properties },
    required: ['amount'],
    additionalProperties: false,
  })
  const widened = (
    entries: readonly PolicyEntry[],
    before: JsonSchema,
    after: JsonSchema,
    sideEffectClass: SideEffectClass | undefined = 'idempotent_write',
  ) => {
    const made = (schema: JsonSchema): Made => ({ schema, ...(sideEffectClass && { sideEffectClass }) })
    return compareAuthority(version(entries, made(before)), version(entries, made(after)))
  }
  const referred = (maximum: number): JsonSchema => ({
    ...(limited({}, { fee: { $ref: '#/$defs/fee' } }) as JsonObject),
    $defs: { fee: { type: 'integer', maximum } },
  })
  const [low, high] = [limited({ maximum: 500 }), limited({ maximum: 5_000_000 })]

  test('are loosened if a write is not gated, with a witness that was refused', () => {
    expect(widened([], low, high)).toEqual({
      verdict: 'loosened',
      witness: { tool: 'acme.refunds', arguments: { amount: 5_000_000 }, before: 'refused', after: 'allow' },
    })
  })

  test.each<[string, JsonSchema, JsonSchema, JsonObject]>([
    [
      'a new value',
      limited({}, { mode: { enum: ['read'] } }),
      limited({}, { mode: { enum: ['read', 'delete'] } }),
      { amount: 1, mode: 'delete' },
    ],
    ['a new argument', low, limited({ maximum: 500 }, { force: { type: 'boolean' } }), { amount: 1, force: true }],
    ['any other argument', low, { ...(low as JsonObject), additionalProperties: true }, { amount: 1, other: 'x' }],
    ['an argument that may be left out', low, { ...(low as JsonObject), required: [] }, {}],
    [
      'a longer text',
      limited({}, { to: { type: 'string', maxLength: 2 } }),
      limited({}, { to: { type: 'string', maxLength: 9 } }),
      { amount: 1, to: 'other' },
    ],
    [
      'another element',
      limited({}, { ids: { type: 'array', items: { enum: ['a'] } } }),
      limited({}, { ids: { type: 'array', items: { enum: ['a', 'b'] } } }),
      { amount: 1, ids: ['b'] },
    ],
    ['a number behind a reference', referred(3), referred(9), { amount: 1, fee: 9 }],
  ])('%s', (_, before, after, args) => {
    expect(widened([], before, after)).toEqual({
      verdict: 'loosened',
      witness: { tool: 'acme.refunds', arguments: args, before: 'refused', after: 'allow' },
    })
  })

  test('are not wider if a gate stops each of them', () => {
    expect(widened([above(100)], low, high)).toEqual({ verdict: 'equal' })
    expect(widened([above(500)], low, high)).toEqual({ verdict: 'equal' })
    expect(widened([above(501)], low, high)).toMatchObject({
      verdict: 'loosened',
      witness: { before: 'refused', after: 'allow' },
    })
  })

  test('are not wider if one gate stops them, among too many to combine', () => {
    const many = Array.from({ length: 20 }, (_, index) => gate({ field: `args.f${index}`, op: 'gt', value: index }))
    const open = (schema: JsonSchema): JsonSchema => ({ ...(schema as JsonObject), additionalProperties: true })
    expect(widened([...many, above(100)], open(low), open(high))).toEqual({ verdict: 'equal' })
  })

  test('are proven place by place, so that one gate covers many new arguments', () => {
    const names = Array.from({ length: 20 }, (_, index) => `more${index}`)
    const more = limited({}, Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 5 }])))
    expect(widened([gate()], limited({}), more)).toEqual({ verdict: 'equal' })
    expect(widened([gate({ field: 'amount', op: 'gte', value: 0 })], limited({}), more)).toEqual({ verdict: 'equal' })
    expect(widened([above(5)], limited({}), more)).toMatchObject({
      verdict: 'loosened',
      witness: { before: 'refused', after: 'allow' },
    })
  })

  test('are all calls if a tool no longer has an input schema', () => {
    const made = (schema?: JsonSchema): Made => ({ ...(schema !== undefined && { schema }) })
    expect(compareAuthority(version([], made(low)), version([], made()))).toMatchObject({
      verdict: 'loosened',
      witness: { before: 'refused', after: 'allow' },
    })
    expect(compareAuthority(version([], made()), version([], made(low)))).toEqual({ verdict: 'equal' })
  })

  test('of an irreversible action are stopped by its default, unless a grant lifts it', () => {
    const grant = makeEntry({ effect: 'grant', when: { field: 'amount', op: 'gt', value: 1000 } })
    expect(widened([], low, high, 'irreversible_action')).toEqual({ verdict: 'equal' })
    expect(widened([grant], low, high, 'irreversible_action')).toMatchObject({
      verdict: 'loosened',
      witness: { before: 'refused', after: 'allow' },
    })
  })

  test('need no gate if the tool only reads', () => {
    expect(widened([], low, high, 'read_only')).toEqual({ verdict: 'equal' })
  })

  test('do not exist if the schema is rewritten or narrowed', () => {
    expect(widened([], high, low)).toEqual({ verdict: 'equal' })
    expect(widened([], low, { allOf: [low, { title: 'A refund' }] })).toEqual({ verdict: 'equal' })
  })

  test('are not proven if a schema differs in an unknown keyword', () => {
    const odd = (not: JsonObject): JsonSchema => limited({}, { to: { type: 'string', not } })
    expect(widened([], odd({ pattern: '^a{9}b' }), odd({ pattern: '^a{9}c' })).verdict).toBe('not_proven')
  })
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
  { verdict, witness }: AuthorityComparison,
  before: ComparedVersion,
  after: ComparedVersion,
  calls: readonly { args: JsonObject; context: CallContext }[],
): readonly string[] {
  const accepted = (args: JsonObject): boolean =>
    after.callee.schemas.every((schema) => checkValue(schema, args).length === 0)
  const both = (args: JsonObject, context: CallContext = {}) => {
    const asked = { tool: 'acme.refunds', arguments: args, context, before: 'allow', after: 'allow' } as const
    return [replayWitness(before, asked), replayWitness(after, asked)] as const
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

test('a witness is always looser, and a proven pair never is', () => {
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
    { numRuns: cases(1000), seed: 7 },
  )
  // Each verdict was met often enough to mean something.
  expect([...seen.keys()].sort()).toEqual(['equal', 'loosened', 'not_proven', 'tightened'])
  expect(seen.get('loosened')).toBeGreaterThan(cases(200))
})
