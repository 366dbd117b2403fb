/** Random pairs of versions, each a schema with policies, and what must hold for the verdict about a pair. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { compareAuthority, type AuthorityComparison } from '../../src/authority/authority.ts'
import type { ComparedCallee, ComparedVersion } from '../../src/authority/callee.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { JsonSchema, AgentSnapshot } from '../../src/spec/snapshot.ts'
import { makeEntry, makeSet } from '../policy/make.ts'
import { decideSlowly, isSlowlyLooser, type SlowDecision, type SlowPolicy } from './slow-decision.ts'

export interface Half {
  readonly schema: JsonSchema
  readonly sideEffectClass: SideEffectClass | undefined
  readonly policies: readonly SlowPolicy[]
}

export interface Pair {
  readonly before: Half
  readonly after: Half
}

interface SampledCall {
  readonly args: JsonObject
  readonly depth: number
}

// Schemas

const range = (most: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: most }))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)

const scalarSchema: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 4, arbitrary: range(3).map(([minLength, maxLength]) => ({ type: 'string', minLength, maxLength })) },
  { weight: 1, arbitrary: fc.constantFrom(0, 20_000, 70_000).map((maxLength) => ({ type: 'string', maxLength })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('^[A-Z]{2}$', '^(EUR|USD)$', '^D', '.').map((pattern) => ({ type: 'string', pattern })),
  },
  {
    weight: 2,
    arbitrary: fc
      .uniqueArray(fc.constantFrom<JsonValue>('DE', 'US', 'EUR', '', 1, null), { minLength: 1, maxLength: 3 })
      .map((values) => ({ enum: values })),
  },
  { weight: 1, arbitrary: fc.constantFrom<JsonValue>('DE', 1, true).map((value) => ({ const: value })) },
  {
    weight: 3,
    arbitrary: fc
      .record({ type: fc.constantFrom('number', 'integer'), bounds: range(4), step: fc.boolean() })
      .map(({ type, bounds: [minimum, maximum], step }) => ({
        type,
        minimum,
        maximum,
        ...(step && { multipleOf: 0.5 }),
      })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(2, 2 ** 54).map((maximum) => ({ type: 'number', exclusiveMaximum: maximum })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<JsonObject>(
      { type: 'boolean' },
      { type: ['string', 'null'], maxLength: 2 },
      { type: 'string', maxLength: 2, nullable: true },
      { anyOf: [{ type: 'string', maxLength: 1 }, { type: 'integer' }] },
      { allOf: [{ type: 'string' }, { maxLength: 2 }] },
      { not: { type: 'string' } },
      {},
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom('code', 'amount').map((name) => ({ $ref: `#/$defs/${name}` })) },
)

const listSchema: fc.Arbitrary<JsonObject> = fc
  .record({ items: scalarSchema, maxItems: fc.integer({ min: 0, max: 3 }) })
  .map(({ items, maxItems }) => ({ type: 'array', items, maxItems }))

const objectSchema = (properties: Record<string, fc.Arbitrary<JsonObject>>): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      properties: fc.record(properties, { requiredKeys: [] }),
      required: fc.subarray(Object.keys(properties)),
      closed: fc.boolean(),
      typed: fc.integer({ min: 0, max: 9 }),
    })
    .map(({ properties, required, closed, typed }) => ({
      ...(typed > 0 && { type: 'object' }),
      properties: properties as JsonObject,
      required: required.filter((name) => Object.hasOwn(properties, name) || !closed),
      ...(closed && { additionalProperties: false }),
    }))

const bodySchema: fc.Arbitrary<JsonObject> = objectSchema({
  a: scalarSchema,
  b: scalarSchema,
  c: objectSchema({ d: scalarSchema }),
  tags: listSchema,
}).map((schema) => ({ ...schema, type: 'object' }))

const definitions = fc.record({ code: scalarSchema, amount: scalarSchema }).map(({ code, amount }) => {
  // A definition that refers to a definition may refer to itself.
  const plain = (schema: JsonObject, otherwise: JsonObject): JsonObject =>
    schema['$ref'] === undefined ? schema : otherwise
  return {
    code: plain(code, { type: 'string', maxLength: 2 }),
    amount: plain(amount, { type: 'number', minimum: 0, maximum: 500 }),
  }
})

const wholeSchema: fc.Arbitrary<JsonObject> = fc
  .tuple(bodySchema, definitions)
  .map(([body, $defs]) => ({ ...body, $defs }))

/** The same schema with one thing about it changed. */
const nearBy = (schema: JsonObject): fc.Arbitrary<JsonObject> => {
  const properties = schema['properties'] as JsonObject
  const names = Object.keys(properties).filter((name) => name === 'a' || name === 'b')
  return fc.oneof(
    ...(names.length > 0
      ? [
          fc
            .tuple(fc.constantFrom(...names), scalarSchema)
            .map(([name, changed]): JsonObject => ({ ...schema, properties: { ...properties, [name]: changed } })),
        ]
      : []),
    definitions.map(($defs): JsonObject => ({ ...schema, $defs })),
    fc.subarray(Object.keys(properties)).map((required): JsonObject => ({ ...schema, required })),
    scalarSchema.map((b): JsonObject => ({ ...schema, properties: { ...properties, b } })),
    fc
      .constantFrom<JsonValue>(true, false, { type: 'string', maxLength: 1 })
      .map((additionalProperties): JsonObject => ({ ...schema, additionalProperties })),
    objectSchema({ d: scalarSchema }).map((c): JsonObject => ({ ...schema, properties: { ...properties, c } })),
    listSchema.map((tags): JsonObject => ({ ...schema, properties: { ...properties, tags } })),
  )
}

// Policies

const FIELDS = ['args.a', 'args.b', 'args.c.d', 'args.c', 'run.depth']
const literal = fc.constantFrom<JsonValue>('DE', 'US', 'EUR', 'GERMANY', '', 0, 1, 2, 500, true, null)
const leafOf = (fields: readonly string[], ops: readonly string[], value: fc.Arbitrary<JsonValue>) =>
  fc
    .record({
      field: fc.constantFrom(...fields),
      op: fc.constantFrom(...ops),
      value,
      missing: fc.integer({ min: 0, max: 5 }),
    })
    .map(({ missing, ...leaf }): JsonObject => ({
      ...leaf,
      ...(missing < 2 && { if_missing: missing === 1 }),
    }))
const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 4, arbitrary: leafOf(FIELDS, ['eq', 'ne'], literal) },
  { weight: 3, arbitrary: leafOf(FIELDS, ['gt', 'gte', 'lt', 'lte'], fc.constantFrom(0, 1, 1.5, 2, 3, 500)) },
  { weight: 2, arbitrary: leafOf(FIELDS, ['in', 'not_in'], fc.uniqueArray(literal, { minLength: 1, maxLength: 3 })) },
  { weight: 1, arbitrary: leafOf(FIELDS, ['exists'], fc.boolean()) },
  { weight: 1, arbitrary: leafOf(FIELDS, ['type'], fc.constantFrom('string', 'integer', 'number', 'null', 'object')) },
  { weight: 1, arbitrary: leafOf(['args.a', 'args.b'], ['starts_with'], fc.constantFrom('D', '')) },
  {
    weight: 1,
    arbitrary: leafOf(['length(args.a)', 'length(args.tags)'], ['gt', 'eq'], fc.integer({ min: 0, max: 3 })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(leafOf(['args.tags[*]'], ['eq', 'in', 'exists'], fc.constant(['DE'])), fc.constantFrom('any', 'all'))
      .map(([each, how]): JsonObject => ({
        ...each,
        ...(each['op'] === 'in' ? {} : { op: 'exists', value: true }),
        each: how,
      })),
  },
)
const condition: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 4, arbitrary: leaf },
  fc.record({ not: leaf }),
  fc.array(leaf, { minLength: 2, maxLength: 3 }).map((all) => ({ all })),
  fc.array(leaf, { minLength: 2, maxLength: 3 }).map((any) => ({ any })),
  fc.tuple(leaf, leaf, leaf).map(([a, b, c]) => ({ all: [{ any: [a, { not: b }] }, c] })),
)
const policy: fc.Arbitrary<SlowPolicy> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        effect: fc.constantFrom('require_approval', 'require_approval', 'escalate', 'deny', 'grant'),
        when: condition,
        approvals: fc.integer({ min: 1, max: 2 }),
        comprehension: fc.boolean(),
      },
      { requiredKeys: ['effect', 'when'] },
    ) as fc.Arbitrary<SlowPolicy>,
  },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(fc.constantFrom('DE', 'US', '', '1', 'null', '{}'), { minLength: 1, maxLength: 3 })
      .map((values): SlowPolicy => ({ effect: 'restrict', allow: { field: 'args.a', values: values.sort() } })),
  },
)

/** The same policies with one of them changed, dropped or added. */
const near = (policies: readonly SlowPolicy[]): fc.Arbitrary<readonly SlowPolicy[]> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(policies) },
    { weight: 2, arbitrary: policy.map((added) => [...policies, added]) },
    { weight: 2, arbitrary: fc.constant(policies.slice(1)) },
    { weight: 2, arbitrary: policy.map((other) => [...policies.slice(1), other]) },
    {
      weight: 4,
      arbitrary: literal.map((value) =>
        policies.map((each) => (each.when ? { ...each, when: withLiteral(each.when, value) } : each)),
      ),
    },
  )

/** The first comparison with another value, where the operator takes it. */
function withLiteral(when: JsonObject, value: JsonValue): JsonObject {
  if (when['op'] === 'eq' || when['op'] === 'ne') return { ...when, value }
  if (['gt', 'gte', 'lt', 'lte'].includes(when['op'] as string))
    return typeof value === 'number' ? { ...when, value } : when
  if (Array.isArray(when['all']))
    return { all: [withLiteral(when['all'][0] as JsonObject, value), ...when['all'].slice(1)] }
  if (Array.isArray(when['any']))
    return { any: [withLiteral(when['any'][0] as JsonObject, value), ...when['any'].slice(1)] }
  return when['not'] === undefined ? when : { not: withLiteral(when['not'] as JsonObject, value) }
}

const sideEffects = fc.constantFrom<SideEffectClass | undefined>(
  undefined,
  'read_only',
  'idempotent_write',
  'idempotent_write',
  'irreversible_action',
)

export const pairs: fc.Arbitrary<Pair> = fc
  .record({ schema: wholeSchema, policies: fc.array(policy, { maxLength: 3 }), sideEffectClass: sideEffects })
  .chain((before) =>
    fc
      .record({
        schema: fc.oneof(
          { weight: 3, arbitrary: fc.constant(before.schema) },
          { weight: 2, arbitrary: nearBy(before.schema) },
        ),
        policies: near(before.policies),
        sideEffectClass: fc.oneof({ weight: 5, arbitrary: fc.constant(before.sideEffectClass) }, sideEffects),
      })
      .map((after) => ({ before, after })),
  )

// Calls

const VALUES: readonly (JsonValue | undefined)[] = [
  undefined,
  '',
  'x',
  'D',
  'DE',
  'US',
  'FR',
  'éé',
  'EUR',
  'USD',
  'Dxx',
  'GERMANY',
  'x'.repeat(70_000),
  '😀'.repeat(17_000),
  -1,
  0,
  0.5,
  1,
  1.25,
  1.5,
  2,
  2.5,
  3,
  4,
  500,
  501,
  2 ** 53,
  -(2 ** 53),
  2 ** 55,
  true,
  false,
  null,
  [],
  ['x'],
  {},
  { d: 'DE' },
]
const LISTS: readonly (JsonValue | undefined)[] = [
  undefined,
  [],
  ['DE'],
  ['x'],
  ['DE', 'US'],
  [1],
  [null],
  ['x', 'x', 'x', 'x'],
  'x',
  1,
]

/** Where each argument of a call is taken from: places in the lists of values, counted round. */
export const places = fc.array(fc.array(fc.nat(9999), { minLength: 6, maxLength: 6 }), { minLength: 40, maxLength: 40 })

/** Calls of which most are accepted: each argument is one that its own schema accepts, but for one in ten. */
function callsOf(schema: JsonObject, drawn: readonly (readonly number[])[]): readonly SampledCall[] {
  const properties = schema['properties'] as JsonObject
  const inner = ((properties['c'] as JsonObject | undefined)?.['properties'] ?? {}) as JsonObject
  const fitting = (part: JsonValue | undefined, values: readonly (JsonValue | undefined)[]) => {
    if (part === undefined) return values
    const accepts = acceptorOf({ ...(part as JsonObject), $defs: schema['$defs']! })
    return [undefined, ...values.filter((value) => value !== undefined && accepts(value))]
  }
  const [as, bs, ds] = [properties['a'], properties['b'], inner['d']].map((part) => fitting(part, VALUES))
  const tags = fitting(properties['tags'], LISTS)
  const pick = (at: number, fit: readonly (JsonValue | undefined)[], all: readonly (JsonValue | undefined)[]) => {
    const from = at % 10 === 0 ? all : fit.length > 1 && at % 3 > 0 ? fit.slice(1) : fit
    return from[Math.floor(at / 10) % from.length]
  }
  return drawn.map(([a, b, c, d, list, depth]) => {
    const deeper = pick(d!, ds!, VALUES)
    const args = {
      a: pick(a!, as!, VALUES),
      b: pick(b!, bs!, VALUES),
      c: c! % 10 === 0 ? VALUES[Math.floor(c! / 10) % VALUES.length] : deeper === undefined ? {} : { d: deeper },
      tags: pick(list!, tags, LISTS),
      more: depth! % 20 === 0 ? 'x' : undefined,
    }
    return {
      args: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as JsonObject,
      depth: depth! % 4,
    }
  })
}

// What must hold

function versionOf({ schema, sideEffectClass, policies }: Half): ComparedVersion {
  const callee: ComparedCallee = {
    agent: { id: 'acme.desk', version: '1.0.0', classifications: [], labels: {} } as unknown as AgentSnapshot,
    kind: 'tool',
    wire: 'refunds',
    id: 'acme.refunds',
    ...(sideEffectClass && { sideEffectClass }),
    schemas: [schema],
    facts: { id: 'acme.refunds', version: '1.0.0', wire_name: 'refunds', kind: 'tool', labels: {} },
    late: false,
  }
  const entries = policies.map(({ effect, when, allow, approvals, comprehension }) =>
    makeEntry({
      effect,
      ...(when && { when }),
      ...(allow && { allow }),
      obligations: {
        ...(approvals !== undefined && { approvals_required: approvals }),
        ...(comprehension !== undefined && { comprehension_required: comprehension }),
      },
    }),
  )
  return { callee, sets: { own: makeSet(entries), ancestors: [] } }
}

export const compareHalves = ({ before, after }: Pair): AuthorityComparison =>
  compareAuthority(versionOf(before), versionOf(after))

type Accepts = (value: JsonValue) => boolean

const acceptors = new Map<string, Accepts>()

function acceptorOf(schema: JsonSchema): Accepts {
  const text = JSON.stringify(schema)
  const known = acceptors.get(text)
  if (known) return known
  // A compiler of its own for a few hundred schemas: it keeps all that it has seen.
  if (acceptors.size % 300 === 0)
    ajv = new Ajv2020({ strict: false, logger: false, meta: false, validateSchema: false })
  const validate = ajv.compile(schema as object)
  acceptors.set(text, (value) => validate(value))
  return acceptors.get(text)!
}

let ajv: Ajv2020

/** What is wrong with a verdict, seen from calls that were not made up for it; empty = nothing. */
export function faultsOf(
  { before, after }: Pair,
  authority: AuthorityComparison,
  drawn: readonly (readonly number[])[],
): readonly string[] {
  const [accepted, accepts] = [acceptorOf(before.schema), acceptorOf(after.schema)]
  const isWriting = [before, after].some(({ sideEffectClass }) => sideEffectClass !== 'read_only')
  const decided = ({ policies, sideEffectClass }: Half, { args, depth }: SampledCall): SlowDecision =>
    decideSlowly(policies, { args, depth, sideEffectClass })
  /** Looser and stricter of one call that the later version accepts. */
  const seen = (call: SampledCall) => {
    const [was, is] = [decided(before, call), decided(after, call)]
    const isNew = !accepted(call.args)
    const looser = isSlowlyLooser(was, is) || (isNew && isWriting && is.decision === 'allow')
    return { was, is, isNew, looser, stricter: !isNew && isSlowlyLooser(is, was) }
  }
  const { verdict, witness } = authority
  if (verdict === 'loosened') {
    if (!witness) return ['loosened without a witness']
    const call = { args: witness.arguments, depth: Number(witness.context?.['run.depth'] ?? 0) }
    const { was, is, isNew, looser } = seen(call)
    return [
      ...(accepts(call.args) ? [] : ['the later schema refuses the witness']),
      ...(looser ? [] : ['the witness is not looser']),
      ...(witness.before === (isNew ? 'refused' : was.decision) ? [] : ['the witness was decided otherwise before']),
      ...(witness.after === is.decision ? [] : ['the witness is decided otherwise now']),
    ]
  }
  if (witness) return [`${verdict} with a witness`]
  if (verdict === 'not_proven') return []
  const calls = callsOf(after.schema as JsonObject, drawn)
  const all = calls.filter(({ args }) => accepts(args)).map((call) => ({ call, ...seen(call) }))
  const [looser, stricter] = [all.find((each) => each.looser), all.find((each) => each.stricter)]
  return [
    ...(looser ? [`${verdict}, and looser for ${JSON.stringify(looser.call).slice(0, 200)}`] : []),
    ...(stricter && verdict === 'equal'
      ? [`equal, and stricter for ${JSON.stringify(stricter.call).slice(0, 200)}`]
      : []),
  ]
}

/** The property: whatever the pair and the calls, there is nothing wrong with the verdict. */
export const everyVerdictHolds = (
  onVerdict: (verdict: AuthorityComparison['verdict'], isNewWitness: boolean) => void = () => undefined,
) =>
  fc.property(pairs, places, (pair, drawn) => {
    const authority = compareHalves(pair)
    onVerdict(authority.verdict, authority.witness?.before === 'refused')
    const faults = faultsOf(pair, authority, drawn)
    if (faults.length > 0) throw new Error(faults.join('; '))
  })
