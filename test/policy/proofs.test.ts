/** What must hold for every set of policies and every call. Source: docs/design/policies.md#the-decision */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { readCondition, type Condition, type ConditionLeaf } from '../../src/policy/condition/condition.ts'
import { decideByPolicies } from '../../src/policy/decide.ts'
import type { PolicyDecision } from '../../src/policy/condition/decision.ts'
import { evaluateCondition } from '../../src/policy/condition/evaluate.ts'
import { isLooser } from '../../src/authority/strictness.ts'
import { evaluatePolicies } from '../../src/policy/evaluate-policies.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { PolicyEffect, ApprovalObligations, PolicyEntry } from '../../src/spec/policy-set.ts'
import { hostileArguments, tree } from './arbitrary.ts'
import { conditionOf, makeEntry, makeFacts, makeSet, setsOf } from './make.ts'
import { cases } from '../cases.ts'

type Truth = 'true' | 'false' | 'unknown'
const TRUTHS: readonly Truth[] = ['true', 'false', 'unknown']
const STRICTNESS = ['allow', 'require_approval', 'escalate', 'deny'] as const
const CLASSES: readonly (SideEffectClass | undefined)[] = ['irreversible_action', 'non_idempotent_write', undefined]

/** A policy whose condition has the truth. `listed`: a list that the argument is in. */
interface Piece {
  readonly effect: PolicyEffect
  readonly truth: Truth
  readonly listed?: boolean
}

const PIECES: readonly Piece[] = [
  ...(['grant', 'require_approval', 'escalate', 'deny'] as const).flatMap((effect) =>
    TRUTHS.map((truth) => ({ effect, truth })),
  ),
  ...TRUTHS.flatMap((truth) => [true, false].map((listed) => ({ effect: 'restrict' as const, truth, listed }))),
]

const WHEN: Readonly<Record<Truth, JsonObject>> = {
  true: { field: 'word', value: 'ok' },
  false: { field: 'word', value: 'no' },
  unknown: { field: 'nowhere', value: 1 },
}

const made = new Map<string, PolicyEntry>()

/** The same entry whenever it is asked for: its digest costs more than a decision. */
function entryOf(piece: Piece, at = 0): PolicyEntry {
  const { effect, truth, listed } = piece
  const key = JSON.stringify([effect, truth, listed, at])
  const entry =
    made.get(key) ??
    makeEntry({
      policy: `demo.p${at}`,
      effect,
      when: WHEN[truth],
      ...(listed !== undefined && { allow: { field: 'args.word', values: [listed ? 'ok' : 'other'] } }),
    })
  made.set(key, entry)
  return entry
}

const facts = makeFacts({ args: { word: 'ok' } })

/** Three-valued logic as the document words it: of all the least true, of any the most. */
function followed(condition: Condition, truthOf: (leaf: ConditionLeaf) => Truth): Truth {
  if ('leaf' in condition) return truthOf(condition.leaf)
  if ('not' in condition) return RISING[2 - RISING.indexOf(followed(condition.not, truthOf))]!
  const [members, choose] = 'all' in condition ? [condition.all, Math.min] : [condition.any, Math.max]
  return RISING[choose(...members.map((member) => RISING.indexOf(followed(member, truthOf))))]!
}

const RISING: readonly Truth[] = ['false', 'unknown', 'true']
const decideAll = (
  entries: readonly PolicyEntry[],
  effective: SideEffectClass | undefined,
): PolicyDecision['decision'] => evaluatePolicies(setsOf(...entries), 'refunds', facts, effective).decision

/** The decision rule as the document words it. */
function ruled(pieces: readonly Piece[], effective: SideEffectClass | undefined): PolicyDecision['decision'] {
  const fired = pieces.filter(({ effect, truth, listed }) =>
    effect === 'grant' ? truth === 'true' : truth !== 'false' && listed !== true,
  )
  const has = (...effects: PolicyEffect[]) => fired.some(({ effect }) => effects.includes(effect))
  if (has('deny', 'restrict')) return 'deny'
  if (has('escalate')) return 'escalate'
  if (has('require_approval')) return 'require_approval'
  return effective === 'irreversible_action' && !has('grant') ? 'require_approval' : 'allow'
}

const stricter = (a: PolicyDecision['decision'], b: PolicyDecision['decision']): number =>
  STRICTNESS.indexOf(a) - STRICTNESS.indexOf(b)

/** Every set of up to three policies, each once. */
const sets: readonly (readonly Piece[])[] = [
  [],
  ...PIECES.flatMap((a, i) => [
    [a],
    ...PIECES.slice(i).flatMap((b, j) => [[a, b], ...PIECES.slice(i + j).map((c) => [a, b, c])]),
  ]),
]

type Decider = (pieces: readonly Piece[], effective: SideEffectClass | undefined) => PolicyDecision['decision']
const ours: Decider = (pieces, effective) => decideAll(pieces.map(entryOf), effective)

/** The first call that a property does not hold for, in words; undefined where it holds for all. */
type Property = (decider: Decider) => string | undefined

const overall = (broken: (pieces: readonly Piece[], effective: SideEffectClass | undefined) => boolean) => {
  for (const pieces of sets)
    for (const effective of CLASSES) if (broken(pieces, effective)) return JSON.stringify([pieces, effective])
  return undefined
}

const properties = {
  'decides as the rule says': (decider) =>
    overall((pieces, effective) => decider(pieces, effective) !== ruled(pieces, effective)),
  'decides alike in whatever order it was written': (decider) =>
    overall((pieces, effective) => {
      const wanted = decider(pieces, effective)
      const orders = [pieces.toReversed(), [...pieces.slice(1), ...pieces.slice(0, 1)]]
      return orders.some((order) => decider(order, effective) !== wanted)
    }),
  'is never looser with one more gate': (decider) =>
    overall((pieces, effective) => {
      if (pieces.length > 2) return false
      const before = decider(pieces, effective)
      const gates = PIECES.filter(({ effect }) => effect !== 'grant')
      return gates.some((gate) => stricter(decider([...pieces, gate], effective), before) < 0)
    }),
  'is never looser without its grants': (decider) =>
    overall((pieces, effective) => {
      const without = pieces.filter(({ effect }) => effect !== 'grant')
      return stricter(decider(without, effective), decider(pieces, effective)) < 0
    }),
  'is, where a truth is unknown, never looser than with the stricter of true and false': (decider) =>
    overall((pieces, effective) => {
      const unknown = decider(pieces, effective)
      return [...pieces.entries()].some(
        ([at, piece]) =>
          piece.truth === 'unknown' &&
          (['true', 'false'] as const).some(
            (truth) => stricter(unknown, decider(pieces.with(at, { ...piece, truth }), effective)) < 0,
          ),
      )
    }),
} satisfies Record<string, Property>

describe('every set of up to three policies', () => {
  test('is among those that are tried', () => {
    expect(sets).toHaveLength(1 + 18 + 171 + 1140)
  })

  test.each(Object.entries(properties))('%s', (_, property) => {
    expect(property(ours)).toBeUndefined()
  })

  // A property that nothing breaks proves nothing: each is broken by a rule that somebody might have written.
  test.each<[keyof typeof properties, string, Decider]>([
    [
      'decides as the rule says',
      'that escalates nothing',
      (pieces, effective) =>
        ruled(
          pieces.filter(({ effect }) => effect !== 'escalate'),
          effective,
        ),
    ],
    [
      'decides alike in whatever order it was written',
      'by which the first policy wins',
      (pieces, effective) => ruled(pieces.slice(0, 1), effective),
    ],
    [
      'is never looser with one more gate',
      'by which an approval answers a denial',
      (pieces, effective) =>
        pieces.some(({ effect, truth }) => effect === 'require_approval' && truth === 'true')
          ? 'require_approval'
          : ruled(pieces, effective),
    ],
    [
      'is never looser without its grants',
      'by which nothing is decided unless something is granted',
      (pieces, effective) => (pieces.some(({ effect }) => effect === 'grant') ? ruled(pieces, effective) : 'allow'),
    ],
    [
      'is, where a truth is unknown, never looser than with the stricter of true and false',
      'that fails open',
      (pieces, effective) =>
        ruled(
          pieces.filter(({ truth }) => truth !== 'unknown'),
          effective,
        ),
    ],
  ])('%s: broken by a rule %s', (name, _, mutant) => {
    expect(properties[name](mutant)).toBeDefined()
  })
})

describe('random trees and hostile arguments', () => {
  const runs = { numRuns: cases(10_000) }
  const history = (_scope: unknown, _whose: unknown, measure: unknown) => (typeof measure === 'string' ? 2 : undefined)
  const factsWith = (args: JsonObject) => makeFacts({ args, history })

  test('every tree is read, has the truth that follows from its comparisons, and its negation has the other', () => {
    fc.assert(
      fc.property(tree, hostileArguments, (when, args) => {
        const { condition, problems } = readCondition(when)
        expect(problems).toEqual([])
        const { truth } = evaluateCondition(condition!, factsWith(args))
        expect(truth).toBe(followed(condition!, (leaf) => evaluateCondition({ leaf }, factsWith(args)).truth))
        const negated = { true: 'false', false: 'true', unknown: 'unknown' }
        expect(evaluateCondition({ not: condition! }, factsWith(args)).truth).toBe(negated[truth])
      }),
      runs,
    )
  })

  test('no call gets past a gate whose condition is not false, and words never change a decision', () => {
    fc.assert(
      fc.property(
        tree,
        hostileArguments,
        fc.constantFrom<PolicyEffect>('deny', 'escalate', 'require_approval'),
        (when, args, effect) => {
          const given = factsWith(args)
          const { truth } = evaluateCondition(conditionOf(when), given)
          const decision = decideByPolicies(setsOf(makeEntry({ effect, when })), 'refunds', given)
          expect(decision.error).toBeUndefined()
          expect(decision.decision).toBe(truth === 'false' ? 'allow' : effect)
        },
      ),
      runs,
    )
  })

  test('no grant lifts anything unless its condition is true', () => {
    fc.assert(
      fc.property(tree, hostileArguments, (when, args) => {
        const given = factsWith(args)
        const { truth } = evaluateCondition(conditionOf(when), given)
        const { decision } = evaluatePolicies(
          setsOf(makeEntry({ effect: 'grant', when })),
          'refunds',
          given,
          'irreversible_action',
        )
        expect(decision).toBe(truth === 'true' ? 'allow' : 'require_approval')
      }),
      runs,
    )
  })

  test('what throws on the way denies', () => {
    const spring = () => {
      throw new Error('trap')
    }
    const trap = new Proxy({} as JsonObject, { get: spring, getOwnPropertyDescriptor: spring })
    const counted = { field: 'history.run.this_tool.failed', op: 'gt', value: 5 }
    const lost = () => {
      throw new RangeError('lost')
    }
    fc.assert(
      fc.property(tree, fc.boolean(), (when, inArguments) => {
        const gate = makeEntry({
          effect: 'require_approval',
          when: { any: [inArguments ? { field: 'a', value: 1 } : counted, when] },
        })
        const given = makeFacts(inArguments ? { args: trap } : { history: lost })
        const sets = setsOf(gate, makeEntry({ effect: 'grant' }))
        expect(evaluatePolicies(sets, 'refunds', given).decision).toBe('deny')
        expect(decideByPolicies(sets, 'refunds', given)).toMatchObject({
          decision: 'deny',
          error: 'policy_error:evaluation',
        })
      }),
      { numRuns: cases(1000) },
    )
  })

  test("members of prototypes are nobody's arguments", () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect(
        evaluateCondition(conditionOf({ field: `args.${name}`, op: 'exists' }), makeFacts({ args: {} })).truth,
      ).toBe('false')
  })
})

test('what two approvals ask for together is never looser than what either asks for', () => {
  const obligations = (
    fc.record(
      {
        approvals_required: fc.constantFrom(1, 2),
        comprehension_required: fc.boolean(),
        separation_of_duties: fc.boolean(),
        approver_role: fc.constantFrom('finance', 'legal'),
        approval_proof: fc.constantFrom('none', 'key', 'passkey'),
        on_reject: fc.constantFrom('fail', 'return_to_agent'),
        on_modify: fc.constantFrom('reject', 'revalidate', 'accept'),
        // Of two approvals that silence gives the shorter counts, as the document has it.
        timeout: fc.record({ after_minutes: fc.constant(30), default: fc.constantFrom('deny', 'escalate', 'allow') }),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<ApprovalObligations>
  ).filter(
    // Others are not published.
    ({ timeout, approvals_required = 1, comprehension_required = false, approval_proof = 'none' }) =>
      timeout?.default !== 'allow' ||
      (approvals_required === 1 && !comprehension_required && approval_proof === 'none'),
  )
  const asked = (...given: ApprovalObligations[]): PolicyDecision => {
    const entries = given.map((each) => makeEntry({ effect: 'require_approval', obligations: each }))
    return decideByPolicies(setsOf(...entries), 'refunds', facts)
  }
  fc.assert(
    fc.property(obligations, obligations, (one, other) => {
      for (const alone of [one, other]) expect(isLooser(asked(alone), asked(one, other))).toBe(false)
    }),
    { numRuns: cases(2000) },
  )
})

test('a gate of an ancestor holds, and a rule that several sets share is asked once', () => {
  const gate = makeEntry({ effect: 'escalate', when: WHEN.unknown })
  const denial = makeEntry({ policy: 'demo.other', effect: 'deny', when: WHEN.true, scope: 'acme.refunds' })
  const own = makeSet([gate])
  const { decision, policies } = decideByPolicies(
    { own, ancestors: [makeSet([], [gate, denial]), makeSet([], [denial])] },
    'refunds',
    facts,
  )
  expect(decision).toBe('deny')
  expect(policies.map(({ id, matched }) => [id, matched])).toEqual([
    ['demo.other', true],
    ['demo.policy', null],
  ])
})

test.each<[Truth, PolicyEffect, PolicyDecision['decision']]>([
  ['true', 'deny', 'deny'],
  ['unknown', 'deny', 'deny'],
  ['false', 'deny', 'allow'],
  ['true', 'require_approval', 'require_approval'],
  ['false', 'require_approval', 'allow'],
  ['true', 'grant', 'allow'],
])('a rule of an ancestor that is %s and would %s: %s', (truth, effect, decision) => {
  const rule = makeEntry({ effect, when: WHEN[truth] })
  const other = makeEntry({ policy: 'demo.other', effect: 'grant', when: WHEN.false })
  const sets = { own: makeSet([other]), ancestors: [makeSet([], [rule])] }
  expect(evaluatePolicies(sets, 'refunds', facts).decision).toBe(decision)
})
