import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { isAlwaysUnknown } from '../../src/policy/prove/satisfiable.ts'
import { possibleValuesUnder } from '../../src/policy/prove/possible-values.ts'
import { isAlwaysTrue, isSatisfiable } from '../../src/policy/prove/conditions.ts'
import { leavesOf, readCondition, type Condition, type ConditionLeaf } from '../../src/policy/condition/condition.ts'
import type { CallFacts } from '../../src/policy/condition/decision.ts'
import { evaluateCondition } from '../../src/policy/condition/evaluate.ts'
import { checkValue } from '../../src/tools/check/check.ts'

const read = (value: JsonValue): Condition => {
  const { condition, problems } = readCondition(value)
  if (condition === undefined) throw new Error(JSON.stringify([value, problems]))
  return condition
}

const under = (property: JsonValue, required = true): JsonObject => ({
  type: 'object',
  properties: { a: property, b: { type: 'string' } },
  ...(required && { required: ['a'] }),
})

describe('is never true', () => {
  test.each<[JsonValue, JsonValue?]>([
    [{ field: 'run.trigger_type', value: 'schedule' }],
    [{ field: 'principal.type', value: 'user' }],
    [{ field: 'tool.side_effect_class', value: 'irreversible' }],
    [{ field: 'tool.kind', op: 'in', value: ['agents', 'http'] }],
    [{ field: 'svc.dispatch.trigger', op: 'starts_with', value: 'x' }],
    [{ field: 'run.depth', op: 'lt', value: 0 }],
    [{ field: 'session.run_count', value: 1.5 }],
    [{ field: 'history.run.this_tool.attempts', op: 'lt', value: 0 }],
    [
      {
        all: [
          { field: 'run.taint', op: 'ne', value: true },
          { field: 'run.taint', op: 'ne', value: false },
        ],
      },
    ],
    [{ field: 'lower(args.a)', value: 'USD' }],
    [{ field: 'lower(args.a)', op: 'starts_with', value: 'U' }],
    [{ field: 'lower(args.a)', op: 'contains', value: 'xÄ' }],
    [{ field: 'lower(args.a)', op: 'matches', value: '^USD$' }],
    [
      { field: 'lower(args.a)', value: 'usdx' },
      { type: 'string', maxLength: 3 },
    ],
    [{ field: 'lower(args.a)', value: 'gbp' }, { enum: ['USD', 'CAD'] }],
    [
      {
        all: [
          { field: 'args.a', value: 'EUR' },
          { field: 'lower(args.a)', value: 'usd' },
        ],
      },
    ],
    [{ field: 'host(args.a)', value: 'Example.com' }],
    [{ field: 'host(args.a)', value: 'https://example.com' }],
    [{ field: 'host(args.a)', value: 'example.com:443' }],
    [{ field: 'host(args.a)', op: 'ends_with', value: '/x' }],
    [{ field: 'host(args.a)', value: 'münchen.de' }],
    [{ field: 'email_domain(args.a)', op: 'in', value: ['@corp.com', 'Corp.com'] }],
    [
      { field: 'length(args.a)', op: 'gt', value: 3 },
      { type: 'string', maxLength: 3 },
    ],
    [
      { field: 'length(args.a)', op: 'lt', value: 2 },
      { type: 'array', minItems: 2 },
    ],
    [{ field: 'length(args.a)', value: 1.5 }],
    [
      { field: 'args.a', value: 'GERMANY' },
      { type: 'string', maxLength: 2 },
    ],
    [
      { field: 'args.a', op: 'starts_with', value: 'GERMANY' },
      { type: 'string', maxLength: 2 },
    ],
    [
      { field: 'args.a', op: 'matches', value: '^GERMANY$' },
      { type: 'string', maxLength: 2 },
    ],
    [
      { field: 'args.a', value: 'de' },
      { type: 'string', pattern: '^[A-Z]{2}$' },
    ],
    [
      { field: 'args.a', value: 'de' },
      { $ref: '#/properties/b', enum: ['DE', 1] },
    ],
    [{ field: 'args.a', op: 'gt', value: 9007199254740991 }],
    [{ field: 'args.a', op: 'type', value: 'string' }, { type: 'number' }],
    [
      { field: 'args.a[*]', op: 'eq', value: 'GBP', each: 'any' },
      { type: 'array', items: { enum: ['USD'] } },
    ],
    [
      { field: 'args.a.c', op: 'eq', value: 1 },
      { type: 'object', additionalProperties: false },
    ],
    [
      { field: 'args.a', op: 'contains', value: 'x' },
      { type: 'array', items: { type: 'number' } },
    ],
    [
      {
        all: [
          { field: 'args.a', op: 'starts_with', value: 'a' },
          { field: 'args.a', op: 'starts_with', value: 'b' },
        ],
      },
      { type: 'string' },
    ],
    [
      {
        all: [
          { field: 'args.a', op: 'ends_with', value: 'ab' },
          { not: { field: 'args.a', op: 'contains', value: 'b' } },
        ],
      },
      { type: 'string' },
    ],
  ])('%j', (condition, property = true) => {
    expect(isSatisfiable(read(condition), possibleValuesUnder(under(property)))).toBe(false)
  })
})

describe('is unknown for every call', () => {
  test.each<[JsonValue, JsonValue?]>([
    [{ field: 'run.taint', value: 'true' }],
    [{ field: 'run.depth', op: 'in', value: ['1'] }],
    [{ field: 'principal.id', op: 'gt', value: 1 }],
    [{ field: 'agent.classifications', value: 'pii' }],
    [{ field: 'length(args.a)', op: 'gt', value: 3 }, { type: 'integer' }],
    [{ field: 'lower(args.a)', value: 'x' }, { type: ['number', 'boolean'] }],
    [{ field: 'length(args.a)', value: '3' }],
    [{ field: 'args.a', op: 'gt', value: 3 }, { enum: ['1', '2'] }],
    [
      { field: 'args.a[*]', op: 'gt', value: 3, each: 'any' },
      { type: 'array', items: { type: 'string' } },
    ],
  ])('%j', (condition, property = true) => {
    const [leaf] = leavesOf(read(condition))
    expect(isAlwaysUnknown(leaf!, possibleValuesUnder(under(property))(leaf!.path)!)).toBe(true)
  })
})

const TEXTS = [
  '',
  'a',
  'A',
  'ab',
  'AB',
  'b',
  'usd',
  'USD',
  'x@corp.com',
  'https://a.example/x',
  'a.example',
  'corp.com',
  'İ',
  'i̇',
  '😀',
  '1',
]
const NUMBERS = [-2, -1, 0, 0.5, 1, 1.5, 2, 3, 2 ** 53]
const POOL: readonly JsonValue[] = [
  ...TEXTS,
  ...NUMBERS,
  true,
  false,
  null,
  [],
  ['a'],
  [1, 'AB'],
  ['USD', null],
  {},
  { c: 'a' },
  { c: 1 },
]

const some = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const text = some(...TEXTS)
const plain: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.record(
    {
      type: fc.constant('string'),
      minLength: some(0, 1, 2),
      maxLength: some(1, 2, 3),
      pattern: some('^[A-Z]+$', 'a', '^[^a]*$', '^\\w{2}'),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: some('number', 'integer'),
      minimum: some(-1, 0, 1),
      maximum: some(1, 2, 2 ** 53),
      exclusiveMinimum: some(0, 0.5),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({ enum: fc.array(some(...POOL), { minLength: 1, maxLength: 3 }) }),
  fc.record({
    type: some<JsonValue>('boolean', 'null', ['string', 'null'], ['integer', 'boolean'], 'object', 'array'),
  }),
  some<JsonValue>(true, {}, { $ref: '#/properties/b' }),
)
const property: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: plain },
  fc.record(
    { type: fc.constant('array'), items: plain, minItems: some(0, 1), maxItems: some(0, 1, 2) },
    { requiredKeys: ['type', 'items'] },
  ),
  fc.record(
    {
      type: fc.constant('object'),
      properties: fc.record({ c: plain }),
      required: some(['c'], []),
      additionalProperties: fc.boolean(),
    },
    { requiredKeys: ['properties'] },
  ),
  fc.record({ allOf: fc.array(plain, { minLength: 1, maxLength: 2 }) }),
)
const field = fc.oneof(
  { weight: 3, arbitrary: some('args.a') },
  some(
    'args.a.c',
    'args.a[0]',
    'lower(args.a)',
    'length(args.a)',
    'host(args.a)',
    'email_domain(args.a)',
    'lower(args.a.c)',
  ),
  some(
    'run.trigger_type',
    'run.taint',
    'run.depth',
    'principal.trigger_name',
    'tool.side_effect_class',
    'history.run.this_tool.attempts',
  ),
)
const leaf: fc.Arbitrary<JsonValue> = fc
  .tuple(
    field,
    fc.oneof(
      fc.tuple(some('eq', 'ne'), some(...POOL.filter((each) => each !== 2 ** 53), 'api', 'schedule')),
      fc.tuple(some('gt', 'gte', 'lt', 'lte'), some(-1, 0, 0.5, 1, 2)),
      fc.tuple(
        some('in', 'not_in'),
        fc.array(some<JsonValue>('a', 'USD', 'usd', 1, true, null, 'api'), { minLength: 1, maxLength: 3 }),
      ),
      fc.tuple(some('starts_with', 'ends_with', 'contains'), text),
      fc.tuple(some('matches'), some('^a', 'b$', '^USD$', 'A', '^[a-z]+$', '^$')),
      fc.tuple(some('exists'), fc.boolean()),
      fc.tuple(some('type'), some<JsonValue>('string', 'integer', 'number', 'array', ['null', 'object'])),
    ),
    fc.option(fc.boolean(), { nil: undefined, freq: 4 }),
    some('', '[*]', '', ''),
    some('any', 'all'),
  )
  .map(([path, [op, value], missing, spread, each]) => {
    const many = spread === '[*]' && path.startsWith('args.')
    return {
      field: many ? `${path}[*]` : path,
      op,
      value,
      ...(missing !== undefined && { if_missing: missing }),
      ...(many && { each }),
    } as JsonValue
  })
const { condition: conditions } = fc.letrec<{ condition: JsonValue }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('condition') }),
  ) as fc.Arbitrary<JsonValue>,
}))

/** Other facts of the sampled calls. */
const CONTEXTS = [
  { trigger: 'api', taint: false, depth: 0, attempts: 1 },
  { trigger: 'scheduled', taint: true, depth: 1, attempts: 3, name: 'usd', effect: 'irreversible_action' },
  { trigger: 'operator', taint: false, depth: 2, attempts: undefined, name: 'a', effect: 'read_only' },
]
const factsOf = (
  args: JsonObject,
  { trigger, taint, depth, attempts, name, effect }: (typeof CONTEXTS)[number],
): CallFacts =>
  ({
    args,
    run: { trigger_type: trigger, taint, depth },
    principal: { ...(name !== undefined && { trigger_name: name }) },
    tool: { ...(effect !== undefined && { side_effect_class: effect }) },
    history: () => attempts,
  }) as unknown as CallFacts

test('no call contradicts what is proven to be never true, always unknown or always true', () => {
  let [never, unknown, always] = [0, 0, 0]
  fc.assert(
    fc.property(property, fc.boolean(), conditions, (written, required, wanted) => {
      const schema = under(written, required)
      const domains = possibleValuesUnder(schema)
      const condition = read(wanted)
      const possible = isSatisfiable(condition, domains)
      const constant = isAlwaysTrue(condition, domains)
      const blind = leavesOf(condition).filter((each) => isAlwaysUnknown(each, domains(each.path)!))
      never += possible ? 0 : 1
      unknown += blind.length
      always += constant ? 1 : 0
      if (possible && !constant && blind.length === 0) return
      const calls = [{} as JsonObject, ...POOL.map((a) => ({ a }))].filter(
        (args) => checkValue(schema, args).length === 0,
      )
      for (const args of calls)
        for (const context of CONTEXTS) {
          const facts = factsOf(args, context)
          const { truth } = evaluateCondition(condition, facts)
          const wrong = [
            ...(!possible && truth === 'true' ? ['never true'] : []),
            ...(constant && truth === 'false' ? ['always true'] : []),
            ...blind.filter((each) => isSeen(each, facts)).map(() => 'always unknown'),
          ]
          expect([args, wrong]).toEqual([args, []])
        }
    }),
    { numRuns: 700 },
  )
  // What is never said proves nothing.
  expect(Math.min(never, unknown, always)).toBeGreaterThan(5)
})

/** The value is there, and something is known of the comparison. Of an empty list, it is known that nothing in it is. */
function isSeen(leaf: ConditionLeaf, facts: CallFacts): boolean {
  const { truth } = evaluateCondition({ leaf }, facts)
  if (leaf.each !== undefined) return truth === 'true' && leaf.ifMissing === undefined
  const present = read({ field: leaf.path.text.replace(/^\w+\((.*)\)$/, '$1'), op: 'exists' })
  return evaluateCondition(present, facts).truth === 'true' && truth !== 'unknown'
}
