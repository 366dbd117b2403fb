import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { decideByPolicies } from '../../src/policy/decide.ts'
import type { PolicyDecision } from '../../src/policy/condition/decision.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import type { PolicyEffect, PolicyEntry } from '../../src/spec/policy-set.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import { makeEntry, makeFacts, makeSet, setsOf } from './make.ts'

const above = (value: number): JsonObject => ({ field: 'amount', op: 'gt', value })

describe('the refund desk', () => {
  const grant = makeEntry({ policy: 'acme.small', effect: 'grant', when: { field: 'amount', op: 'lte', value: 100 } })
  const approval = makeEntry({
    policy: 'acme.refund-limit',
    effect: 'require_approval',
    when: above(100),
    obligations: { timeout: { after_minutes: 30, default: 'deny' } },
    reason: 'Refund above 100',
    authority_ref: 'refund-limit',
    origin: [
      {
        kind: 'boundary',
        boundary: 'refund-limit',
        doc: 'acme.refund-limit@1.0.0',
        path: 'policies/refund-limit.yaml',
        line: 9,
      },
    ],
  })
  const denial = makeEntry({
    policy: 'acme.too-much',
    effect: 'deny',
    when: above(5000),
    reason: 'Above 5,000',
    message: 'Ask for less.',
  })
  const decideAmount = (args: JsonValue) =>
    decideByPolicies(
      setsOf(denial, approval, grant),
      'refunds',
      makeFacts({ args, tool: { side_effect_class: 'irreversible_action' } }),
    )

  test('a small refund is granted', () => {
    expect(decideAmount({ amount: 40 })).toEqual({
      decision: 'allow',
      policies: [
        {
          id: 'acme.small',
          version: '1.0.0',
          decision: 'allow',
          matched: true,
          reason: null,
          authority_ref: null,
          condition: 'args.amount <= 100 (40)',
        },
        {
          id: 'acme.refund-limit',
          version: '1.0.0',
          decision: 'require_approval',
          matched: false,
          reason: 'Refund above 100',
          authority_ref: 'refund-limit',
          source: 'policies/refund-limit.yaml:9',
          condition: 'args.amount > 100 (40)',
        },
        {
          id: 'acme.too-much',
          version: '1.0.0',
          decision: 'deny',
          matched: false,
          reason: 'Above 5,000',
          authority_ref: null,
          condition: 'args.amount > 5000 (40)',
        },
      ],
      explanation: 'acme.small@1.0.0 grants the call: args.amount <= 100 (40).',
      reasons: [],
    } satisfies PolicyDecision)
  })

  test('a larger one needs an approval', () => {
    const { policies, ...decision } = decideAmount({ amount: 180 })
    expect(decision).toEqual({
      decision: 'require_approval',
      explanation: 'acme.refund-limit@1.0.0 requires an approval: args.amount > 100 (180).',
      reasons: ['Refund above 100'],
      authorityRef: 'refund-limit',
      obligations: {
        approvals_required: 1,
        comprehension_required: false,
        on_reject: 'return_to_agent',
        on_modify: 'revalidate',
        timeout: { after_minutes: 30, default: 'deny' },
      },
    })
    expect(policies[0]?.id).toBe('acme.refund-limit')
  })

  test('the largest is denied, with words for the model', () => {
    const { policies, ...decision } = decideAmount({ amount: 9000 })
    expect(decision).toEqual({
      decision: 'deny',
      explanation: 'acme.too-much@1.0.0 denies the call: args.amount > 5000 (9000).',
      message: 'Ask for less.',
      reasons: [],
    })
    expect(policies.map(({ id, matched }) => [id, matched])).toEqual([
      ['acme.too-much', true],
      ['acme.refund-limit', true],
      ['acme.small', false],
    ])
  })

  test('an amount that is no number is denied, since every gate fires', () => {
    const { decision, explanation } = decideAmount({ amount: '40' })
    expect(decision).toBe('deny')
    expect(explanation).toBe(
      'acme.too-much@1.0.0 denies the call, since it cannot be told whether args.amount > 5000 ("40").',
    )
  })
})

const T: JsonObject = { field: 'run.depth', value: 0 }
const F: JsonObject = { field: 'run.depth', value: 1 }
const U: JsonObject = { field: 'nowhere', value: 1 }
const one = (effect: PolicyEffect, when?: JsonObject) =>
  makeEntry({ effect, policy: `demo.${effect}`, ...(when && { when }) })

describe('the outcome', () => {
  test.each<[string, PolicyEntry[], SideEffectClass | undefined, PolicyDecision['decision']]>([
    ['nothing fires, no class', [], undefined, 'allow'],
    ['nothing fires, read_only', [one('deny', F)], 'read_only', 'allow'],
    ['nothing fires, non_idempotent_write', [], 'non_idempotent_write', 'allow'],
    ['nothing fires, irreversible_action', [], 'irreversible_action', 'require_approval'],
    ['a grant that fired lifts the default', [one('grant', T)], 'irreversible_action', 'allow'],
    ['a grant that is unknown lifts nothing', [one('grant', U)], 'irreversible_action', 'require_approval'],
    ['a grant lifts no gate', [one('grant'), one('require_approval', T)], 'read_only', 'require_approval'],
    ['a gate fires on unknown', [one('deny', U)], 'read_only', 'deny'],
    ['escalate is stricter than an approval', [one('require_approval'), one('escalate')], 'read_only', 'escalate'],
    ['deny is stricter than escalate', [one('escalate'), one('deny')], 'read_only', 'deny'],
  ])('%s', (_, entries, sideEffectClass, decision) => {
    const facts = makeFacts({ tool: sideEffectClass ? { side_effect_class: sideEffectClass } : {} })
    expect(decideByPolicies(setsOf(...entries), 'refunds', facts).decision).toBe(decision)
  })

  test('the class may be given', () => {
    expect(decideByPolicies(setsOf(), 'refunds', makeFacts(), 'irreversible_action').decision).toBe('require_approval')
  })

  test.each<[string, JsonObject | undefined, JsonObject, PolicyDecision['decision']]>([
    ['in the list', undefined, { currency: 'EUR' }, 'allow'],
    ['not in the list', undefined, { currency: 'USD' }, 'deny'],
    ['absent', undefined, {}, 'deny'],
    ['conditions unknown', U, { currency: 'USD' }, 'deny'],
    ['conditions false', F, { currency: 'USD' }, 'allow'],
    ['a number by its canonical text', undefined, { currency: 978 }, 'allow'],
    ['not by prefix', undefined, { currency: 'EUR ' }, 'deny'],
  ])('an allow list: %s', (_, when, args, decision) => {
    const list = makeEntry({
      effect: 'restrict',
      allow: { field: 'args.currency', values: ['EUR', '978'] },
      ...(when && { when }),
    })
    expect(decideByPolicies(setsOf(list), 'refunds', makeFacts({ args })).decision).toBe(decision)
  })

  test('a satisfied list grants nothing', () => {
    const list = makeEntry({ effect: 'restrict', allow: { field: 'args.currency', values: ['EUR'] } })
    expect(
      decideByPolicies(setsOf(list), 'refunds', makeFacts({ args: { currency: 'EUR' } }), 'irreversible_action')
        .decision,
    ).toBe('require_approval')
  })

  test('says which list the value is not in', () => {
    const list = makeEntry({
      policy: 'demo.currencies',
      effect: 'restrict',
      allow: { field: 'args.currency', values: ['EUR', 'USD'] },
    })
    expect(decideByPolicies(setsOf(list), 'refunds', makeFacts({ args: { currency: 'GBP' } })).explanation).toBe(
      'demo.currencies@1.0.0 allows only EUR, USD as args.currency ("GBP").',
    )
  })
})

describe('obligations', () => {
  test('of all approvals that fired merge to the strictest', () => {
    const a = makeEntry({
      effect: 'require_approval',
      obligations: {
        approvals_required: 2,
        timeout: { after_minutes: 60, default: 'escalate' },
        on_modify: 'accept',
        approver_role: 'finance',
        approval_proof: 'passkey',
      },
      reason: 'b',
    })
    const b = makeEntry({
      effect: 'escalate',
      obligations: {
        comprehension_required: true,
        timeout: { after_minutes: 90, default: 'deny' },
        on_reject: 'fail',
        separation_of_duties: true,
        approval_proof: 'key',
      },
      reason: 'a',
    })
    const { obligations, reasons } = decideByPolicies(setsOf(a, b), 'refunds', makeFacts())
    expect(obligations).toEqual({
      approvals_required: 2,
      comprehension_required: true,
      timeout: { after_minutes: 60, default: 'deny' },
      on_reject: 'fail',
      on_modify: 'revalidate',
      approver_role: 'finance',
      separation_of_duties: true,
      approval_proof: 'passkey',
    })
    expect(reasons).toEqual(['a', 'b'])
  })

  test.each<[string, PolicyEntry['obligations'][], true | undefined]>([
    ['one that says so', [{ bulk: true }], true],
    ['two that say so', [{ bulk: true }, { bulk: true, approvals_required: 2 }], true],
    ['one of two', [{ bulk: true }, { approvals_required: 2 }], undefined],
    ['none', [{}], undefined],
  ])('a call is approved together with others where all approvals allow it: %s', (_, all, expected) => {
    const entries = all.map((obligations) => makeEntry({ effect: 'require_approval', obligations }))
    expect(decideByPolicies(setsOf(...entries), 'refunds', makeFacts()).obligations?.bulk).toBe(expected)
  })

  test.each<[string, PolicyEntry['obligations'][], SideEffectClass | undefined, string]>([
    ['alone', [], undefined, 'allow'],
    ['with another that silence gives too', [{ timeout: { after_minutes: 9, default: 'allow' } }], undefined, 'allow'],
    ['with another that waits', [{}], undefined, 'deny'],
    ['with a quorum from elsewhere', [{ approvals_required: 2 }], undefined, 'deny'],
    ['with comprehension from elsewhere', [{ comprehension_required: true }], undefined, 'deny'],
    ['with a proof from elsewhere', [{ approval_proof: 'key' }], undefined, 'deny'],
    ['of an irreversible action', [], 'irreversible_action', 'deny'],
  ])('a time-out never approves what needs people: %s', (_, others, sideEffectClass, expected) => {
    const lax = makeEntry({
      effect: 'require_approval',
      obligations: { timeout: { after_minutes: 5, default: 'allow' } },
    })
    const rest = others.map((obligations) => makeEntry({ effect: 'require_approval', obligations }))
    expect(
      decideByPolicies(setsOf(lax, ...rest), 'refunds', makeFacts(), sideEffectClass).obligations?.timeout,
    ).toEqual({
      after_minutes: 5,
      default: expected,
    })
  })
})

describe('ancestors', () => {
  const gate = makeEntry({ policy: 'root.gate', effect: 'deny', when: T })
  const inherit = (...entries: PolicyEntry[]) => ({ own: makeSet([]), ancestors: [makeSet([], entries)] })

  test('their boundaries gate the child', () => {
    expect(decideByPolicies(inherit(gate), 'refunds', makeFacts()).decision).toBe('deny')
  })
  test('their other policies do not', () => {
    expect(decideByPolicies({ own: makeSet([]), ancestors: [makeSet([gate])] }, 'refunds', makeFacts()).decision).toBe(
      'allow',
    )
  })
  test('their grants do not', () => {
    expect(decideByPolicies(inherit(one('grant')), 'refunds', makeFacts(), 'irreversible_action').decision).toBe(
      'require_approval',
    )
  })
  test('their scope is the tool, whatever its version', () => {
    const scoped = (scope: string) => inherit(makeEntry({ effect: 'deny', scope }))
    expect(decideByPolicies(scoped('acme.refunds'), 'refunds', makeFacts()).decision).toBe('deny')
    expect(decideByPolicies(scoped('acme.refund'), 'refunds', makeFacts()).decision).toBe('allow')
  })
  test('the same rule from both is one policy', () => {
    expect(
      decideByPolicies({ own: makeSet([gate]), ancestors: [makeSet([], [gate])] }, 'refunds', makeFacts()).policies,
    ).toHaveLength(1)
  })
})

describe('what cannot be evaluated denies', () => {
  const set = makeSet([one('grant')])
  test.each<[string, () => PolicyDecision, string]>([
    [
      'a set that is not what its digest says',
      () => decideByPolicies({ own: { ...set, entries: [] }, ancestors: [] }, 'refunds', makeFacts()),
      'digest_mismatch',
    ],
    [
      'an ancestor set that is not',
      () => decideByPolicies({ own: set, ancestors: [{ ...set, agent: 'x.y' }] }, 'refunds', makeFacts()),
      'digest_mismatch',
    ],
    [
      'an id without an entry',
      () => decideByPolicies({ own: sealSet({ ...set, entries: [] }), ancestors: [] }, 'refunds', makeFacts()),
      'entry_missing',
    ],
    [
      'a name that is not bound',
      () => decideByPolicies({ own: set, ancestors: [] }, 'toString', makeFacts()),
      'not_bound',
    ],
    [
      'a condition that cannot be read',
      () =>
        decideByPolicies(
          setsOf({ ...one('grant'), when: { field: 'x', op: 'near', value: 1 } }),
          'refunds',
          makeFacts(),
        ),
      'condition_invalid',
    ],
    [
      'an evaluator that throws',
      () =>
        decideByPolicies(
          setsOf(one('deny', { field: 'history.run.this_tool.failed', value: 1 })),
          'refunds',
          makeFacts({
            history: () => {
              throw new Error('lost')
            },
          }),
        ),
      'evaluation',
    ],
  ])('%s', (_, run, what) => {
    expect(run()).toEqual({
      decision: 'deny',
      policies: [],
      explanation: `The policies of this call could not be evaluated (${what}), so it is denied.`,
      message: 'The call is denied because its policies could not be evaluated.',
      reasons: [],
      error: `policy_error:${what}`,
    })
  })
})

describe('for all policies', () => {
  const names = ['p', 'q', 'r'] as const
  const leaf = fc.record({ field: fc.constantFrom(...names), value: fc.boolean() }).map((each): JsonObject => each)
  const { tree } = fc.letrec<{ tree: JsonObject; node: JsonObject }>((tie) => ({
    tree: fc.oneof({ maxDepth: 3 }, leaf, tie('node')),
    node: fc.oneof(
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
      tie('tree').map((not) => ({ not })),
    ),
  }))
  const effect = fc.constantFrom<PolicyEffect>('grant', 'restrict', 'require_approval', 'escalate', 'deny')
  const obligations = fc.record(
    {
      approvals_required: fc.integer({ min: 1, max: 3 }),
      on_reject: fc.constantFrom('fail' as const, 'return_to_agent' as const),
    },
    { requiredKeys: [] },
  )
  const entry = fc
    .record({ policy: fc.constantFrom('a.a', 'a.b', 'b.a'), effect, when: tree, obligations })
    .map((given) =>
      makeEntry({ ...given, ...(given.effect === 'restrict' && { allow: { field: 'args.word', values: ['ok'] } }) }),
    )
  const args = fc.record(
    { p: fc.boolean(), q: fc.boolean(), r: fc.boolean(), word: fc.constantFrom('ok', 'no') },
    { requiredKeys: [] },
  )
  const sideEffectClass = fc.constantFrom<SideEffectClass>('read_only', 'irreversible_action')
  const strictness = ({ decision }: PolicyDecision) =>
    ['allow', 'require_approval', 'escalate', 'deny'].indexOf(decision)

  test('their order does not matter', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(entry, { maxLength: 5, selector: ({ id }) => id }),
        args,
        sideEffectClass,
        (entries, given, effective) => {
          const facts = makeFacts({ args: given as JsonObject })
          expect(decideByPolicies(setsOf(...entries.toReversed()), 'refunds', facts, effective)).toEqual(
            decideByPolicies(setsOf(...entries), 'refunds', facts, effective),
          )
        },
      ),
    )
  })

  test('one more gate never loosens', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 4 }),
        entry.filter((each) => each.effect !== 'grant'),
        args,
        sideEffectClass,
        (entries, gate, given, effective) => {
          const facts = makeFacts({ args: given as JsonObject })
          const before = decideByPolicies(setsOf(...entries), 'refunds', facts, effective)
          expect(
            strictness(decideByPolicies(setsOf(...entries, gate), 'refunds', facts, effective)),
          ).toBeGreaterThanOrEqual(strictness(before))
        },
      ),
    )
  })

  test('unknown is never looser than the stricter of true and false', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 4 }),
        args,
        fc.constantFrom(...names),
        sideEffectClass,
        (entries, given, name, effective) => {
          const { [name]: _, ...absent } = given
          const strictnessOf = (each: object) =>
            strictness(
              decideByPolicies(setsOf(...entries), 'refunds', makeFacts({ args: each as JsonObject }), effective),
            )
          const known = Math.max(strictnessOf({ ...absent, [name]: true }), strictnessOf({ ...absent, [name]: false }))
          expect(strictnessOf(absent)).toBeGreaterThanOrEqual(known)
        },
      ),
    )
  })

  test('hostile arguments are decided, never thrown', () => {
    let deep: JsonValue = 'x'
    for (let depth = 0; depth < 50_000; depth++) deep = [deep]
    const hostile = fc.oneof(
      fc.constantFrom<JsonValue>(
        deep,
        'x'.repeat(1_000_000),
        '\ud800',
        2 ** 1000,
        JSON.parse('{"__proto__":{"polluted":true}}') as JsonValue,
      ),
      fc.jsonValue().map((value) => value as JsonValue),
    )
    const gates = [
      one('deny', { field: 'x', value: [['y']] }),
      one('deny', { field: 'x', op: 'matches', value: '(a+)+$' }),
      one('escalate', { field: 'host(x)', op: 'in', value: ['a.example'] }),
      one('require_approval', { field: 'x[*].y', each: 'all', op: 'contains', value: 'z' }),
    ]
    fc.assert(
      fc.property(hostile, (value) => {
        expect(decideByPolicies(setsOf(...gates), 'refunds', makeFacts({ args: { x: value } })).decision).not.toBe(
          'allow',
        )
      }),
    )
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})
