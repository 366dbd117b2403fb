/**
 * Cedar as a second opinion. Where both say the same by definition (well-typed arguments, absence asked for outright, a denial
 * as `forbid`, a grant as `permit`, nothing allowed by default) they must decide alike.
 */
import { isAuthorized } from '@cedar-policy/cedar-wasm/nodejs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { evaluatePolicies } from '../../src/policy/evaluate-policies.ts'
import { makeEntry, makeFacts, setsOf } from './make.ts'
import { cases } from '../cases.ts'

/** One condition in both languages. */
interface Both {
  readonly ours: JsonObject
  readonly cedar: string
}

const words = ['a', 'ab', 'abc', 'b', ''] as const
const word = fc.constantFrom(...words)
const amount = fc.integer({ min: -3, max: 3 })

const both = (field: string, op: string, value: JsonObject[string], cedar: string): Both => ({
  ours: { field: `args.${field}`, op, value, if_missing: false },
  cedar: `(context has ${field} && ${cedar})`,
})

const leaf: fc.Arbitrary<Both> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('n', 'm'),
      fc.constantFrom(['gt', '>'], ['gte', '>='], ['lt', '<'], ['lte', '<='], ['eq', '=='], ['ne', '!=']),
      amount,
    )
    .map(([field, [op, sign], value]) => both(field, op!, value, `context.${field} ${sign} ${value}`)),
  fc
    .tuple(fc.constantFrom(['eq', '=='], ['ne', '!=']), word)
    .map(([[op, sign], value]) => both('s', op!, value, `context.s ${sign} ${JSON.stringify(value)}`)),
  fc
    .tuple(fc.constantFrom('starts_with', 'ends_with', 'contains'), word)
    .map(([op, value]) =>
      both(
        's',
        op,
        value,
        `context.s like "${op === 'starts_with' ? '' : '*'}${value}${op === 'ends_with' ? '' : '*'}"`,
      ),
    ),
  fc
    .uniqueArray(word, { minLength: 1, maxLength: 3 })
    .map((list) => both('s', 'in', list, `${JSON.stringify(list)}.contains(context.s)`)),
  word.map((value) => both('l', 'contains', value, `context.l.contains(${JSON.stringify(value)})`)),
  fc.boolean().map((value) => both('f', 'eq', value, `context.f == ${value}`)),
  fc
    .constantFrom('n', 's', 'l')
    .map((field): Both => ({ ours: { field: `args.${field}`, op: 'exists' }, cedar: `(context has ${field})` })),
)

const condition: fc.Arbitrary<Both> = fc.letrec<{ tree: Both; node: Both }>((tie) => {
  const list = (form: 'all' | 'any', sign: string) =>
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((members): Both => ({
      ours: { [form]: members.map(({ ours }) => ours) },
      cedar: `(${members.map(({ cedar }) => cedar).join(` ${sign} `)})`,
    }))
  return {
    tree: fc.oneof({ maxDepth: 3 }, leaf, tie('node')),
    node: fc.oneof(
      list('all', '&&'),
      list('any', '||'),
      tie('tree').map(({ ours, cedar }): Both => ({ ours: { not: ours }, cedar: `!(${cedar})` })),
    ),
  }
}).tree

const args = fc.record(
  { n: amount, m: amount, s: word, l: fc.array(word, { maxLength: 3 }), f: fc.boolean() },
  { requiredKeys: [] },
)

const uid = (type: string) => ({ type, id: 'x' })

test('random sets are decided as Cedar decides them', () => {
  const seen = { allow: 0, deny: 0 }
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('grant' as const, 'deny' as const), condition), { minLength: 1, maxLength: 5 }),
      args,
      (rules, given) => {
        const entries = rules.map(([effect, { ours }], at) => makeEntry({ policy: `demo.p${at}`, effect, when: ours }))
        const verdict = evaluatePolicies(
          setsOf(...entries),
          'refunds',
          makeFacts({ args: given as JsonObject }),
          'irreversible_action',
        )
        const answer = isAuthorized({
          principal: uid('Agent'),
          action: uid('Action'),
          resource: uid('Tool'),
          context: given as never,
          policies: {
            staticPolicies: rules
              .map(
                ([effect, { cedar }]) =>
                  `${effect === 'deny' ? 'forbid' : 'permit'}(principal, action, resource) when { ${cedar} };`,
              )
              .join('\n'),
          },
          entities: [],
        })
        if (answer.type !== 'success') throw new Error(JSON.stringify(answer))
        expect(answer.response.diagnostics.errors).toEqual([])
        expect(verdict.decision === 'allow' ? 'allow' : 'deny').toBe(answer.response.decision)
        seen[answer.response.decision]++
      },
    ),
    { numRuns: cases(1000) },
  )
  // An oracle that always says the same proves nothing.
  expect(Math.min(seen.allow, seen.deny)).toBeGreaterThan(cases(100))
})
