/** Random conditions of the whole language, and arguments that fit them, nearly fit them, or are meant to break them. */
import * as fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'

const NAMES = ['a', 'b', 'c', '__proto__', 'constructor', 'toString', 'ü', 'odd key']

const quoted = (name: string): string => (/^\w+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`)

const text = fc.oneof(
  fc.constantFrom('', 'a', 'A', 'ab', '900', 'true', 'null', 'ana@corp.example', 'https://good.example/x', '10.1.2.3'),
  fc.constantFrom('1.2.3', '\ud800', 'a\u0000b', '😀', 'x'.repeat(70_000)),
  fc.string({ maxLength: 8 }),
)
const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(0, -0, 900, 0.1 + 0.2, 2 ** 53, -(2 ** 53) - 2, 1e308, 5e-324),
)
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(text, number, fc.boolean(), fc.constant(null))

/** Deeper than any recursion survives. */
const abyss = (() => {
  let deep: JsonValue = 'x'
  for (let depth = 0; depth < 50_000; depth++) deep = depth % 2 ? [deep] : { a: deep }
  return deep
})()

const argument: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 4 }) },
  {
    weight: 2,
    arbitrary: fc.array(fc.record({ a: scalar, b: scalar }, { requiredKeys: [] }), {
      maxLength: 3,
    }) as fc.Arbitrary<JsonValue>,
  },
  { weight: 2, arbitrary: fc.dictionary(fc.constantFrom(...NAMES), scalar) as fc.Arbitrary<JsonValue> },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonValue>(
      abyss,
      'y'.repeat(1_000_000),
      Array.from({ length: 20_000 }, () => 'z'),
    ),
  },
)

/** Own members only, `__proto__` among them. */
export const hostileArguments: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), argument), { maxLength: 6 })
  .map((members) => Object.fromEntries(members))

const integerLiteral = fc.integer({ min: -5, max: 900 })
const textLiteral = fc.constantFrom('', 'a', 'ab', '900', 'corp.example', 'good.example')
const anyLiteral = fc.oneof(integerLiteral, textLiteral, fc.boolean(), fc.constant(null))

const comparison: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ op: fc.constantFrom('gt', 'gte', 'lt', 'lte', '>', '>=', '<', '<='), value: integerLiteral }),
  fc.record({ op: fc.constantFrom('eq', 'ne', '==', '!=', 'neq', 'contains'), value: anyLiteral }),
  fc.record({ op: fc.constantFrom('in', 'not_in'), value: fc.array(anyLiteral, { minLength: 1, maxLength: 3 }) }),
  fc.record({ op: fc.constantFrom('starts_with', 'ends_with'), value: textLiteral }),
  fc.record({ op: fc.constant('matches'), value: fc.constantFrom('^a', 'b+$', '(a+)+$', '[0-9]{3}', '') }),
  fc.record({ op: fc.constant('exists') }),
  fc.record({ op: fc.constant('type'), value: fc.constantFrom('string', 'number', 'integer', 'array', 'object') }),
  fc.record({ op: fc.constant('cidr'), value: fc.constantFrom('10.0.0.0/8', '::/0') }),
  fc.record({ op: fc.constant('semver'), value: fc.constantFrom('^1.2', '*') }),
) as fc.Arbitrary<JsonObject>

const plainPath = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => `args${names.map(quoted).join('')}`)
const onePath = fc.oneof(
  { weight: 5, arbitrary: plainPath },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('length', 'lower', 'fold', 'host', 'email_domain'), plainPath)
      .map(([fn, path]) => `${fn}(${path})`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('run.taint', 'tool.labels.team', 'svc.limit', 'principal.trigger_name', 'args.b[1]'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('history.run.this_tool.attempts', 'history.session.all_tools.total(args.a)'),
  },
)
const missing = fc.record({ if_missing: fc.boolean() }, { requiredKeys: [] })

const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(onePath, comparison, missing)
      .map(([field, said, more]): JsonObject => ({ field, ...said, ...more })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(plainPath, fc.constantFrom('', '.a', '["odd key"]'), comparison, fc.constantFrom('any', 'all'))
      .map(([path, rest, said, each]): JsonObject => ({ field: `${path}[*]${rest}`, each, ...said })),
  },
)

/** Trees without problems, as an author may write them. */
export const tree: fc.Arbitrary<JsonObject> = fc.letrec<{ tree: JsonObject; node: JsonObject }>((tie) => ({
  tree: fc.oneof({ maxDepth: 4 }, leaf, tie('node')),
  node: fc.oneof(
    fc.array(tie('tree'), { minLength: 1, maxLength: 4 }).map((all): JsonObject => ({ all })),
    fc.array(tie('tree'), { minLength: 1, maxLength: 4 }).map((any): JsonObject => ({ any })),
    tie('tree').map((not): JsonObject => ({ not })),
  ),
})).tree
