import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { PolicySets } from '../../src/policy/condition/decision.ts'
import { explainDecision } from '../../src/policy/explain/explain.ts'
import { makeEntry, makeFacts, setsOf } from './make.ts'

const grant = makeEntry({ policy: 'acme.small', effect: 'grant', when: { field: 'amount', op: 'lte', value: 100 } })
const approval = makeEntry({
  policy: 'acme.large',
  effect: 'require_approval',
  when: { all: [{ field: 'amount', op: 'gt', value: 100 }, { not: { field: 'tier', value: 'gold' } }] },
})
const denial = makeEntry({ policy: 'acme.too-much', effect: 'deny', when: { field: 'amount', op: 'gt', value: 5000 } })

test('shows the tree with what each comparison saw', () => {
  const { policies } = explainDecision(setsOf(approval), 'refunds', makeFacts({ args: { amount: 180 } }))
  expect(policies).toEqual([
    {
      policy: 'acme.large',
      version: '1.0.0',
      effect: 'require_approval',
      truth: 'unknown',
      fired: true,
      tree: {
        node: 'all',
        truth: 'unknown',
        children: [
          {
            node: 'leaf',
            truth: 'true',
            text: 'args.amount > 100',
            seen: '180 > 100',
            op: 'gt',
            literal: 100,
            value: 180,
          },
          {
            node: 'not',
            truth: 'unknown',
            children: [
              {
                node: 'leaf',
                truth: 'unknown',
                text: 'args.tier == "gold"',
                seen: 'absent == "gold"',
                op: 'eq',
                literal: 'gold',
              },
            ],
          },
        ],
      },
    },
  ])
})

test('says what another amount would have meant', () => {
  const facts = makeFacts({ args: { amount: 180, tier: 'silver' }, tool: { side_effect_class: 'irreversible_action' } })
  expect(explainDecision(setsOf(approval, grant, denial), 'refunds', facts).turns).toEqual([
    'allow if args.amount <= 100',
    'deny if args.amount > 5000',
  ])
})

test('shows a time as people read it', () => {
  const closed = makeEntry({
    policy: 'acme.closed',
    effect: 'deny',
    when: { not: { field: 'time.now', op: 'within', value: { days: ['mon'], tz: 'UTC' } } },
  })
  const { decision, policies } = explainDecision(setsOf(closed), 'refunds', makeFacts())
  expect(decision.explanation).toBe(
    'acme.closed@1.0.0 denies the call: not (time.now within mon UTC (2026-01-14T10:30:00.000Z)).',
  )
  expect(policies[0]?.tree).toMatchObject({ children: [{ seen: '2026-01-14T10:30:00.000Z within mon UTC' }] })
})

const of = (effect: 'deny' | 'grant' | 'require_approval', when: JsonObject) =>
  setsOf(makeEntry({ policy: 'acme.one', effect, when }))

test.each<[string, PolicySets, Parameters<typeof makeFacts>[0], readonly string[]]>([
  [
    'a text that is named, and one that is not',
    of('deny', { field: 'currency', op: 'ne', value: 'EUR' }),
    { args: { currency: 'USD' } },
    ['allow if args.currency == "EUR"'],
  ],
  [
    'any other text',
    of('deny', { field: 'currency', op: 'ne', value: 'EUR' }),
    { args: { currency: 'EUR' } },
    ['deny if args.currency != "EUR"'],
  ],
  [
    'the values of a list',
    of('require_approval', { field: 'payee.country', op: 'in', value: ['KP', 'IR'] }),
    { args: { payee: { country: 'DE' } } },
    ['require_approval if args.payee.country in "KP", "IR"'],
  ],
  [
    'what is in no list',
    of('require_approval', { field: 'payee.country', op: 'not_in', value: ['DE', 'FR'] }),
    { args: { payee: { country: 'DE' } } },
    ['require_approval if args.payee.country not in "DE", "FR"'],
  ],
  [
    'a number of a list',
    of('deny', { field: 'level', op: 'in', value: [3, 5] }),
    { args: { level: 4 } },
    ['deny if args.level == 3', 'deny if args.level == 5'],
  ],
  [
    'a switch',
    of('deny', { field: 'urgent', value: true }),
    { args: { urgent: true } },
    ['allow if args.urgent == false'],
  ],
  ['what the run has read', of('deny', { field: 'run.taint', value: true }), {}, ['deny if run.taint == true']],
  [
    'a count, which has no halves',
    of('deny', {
      any: [
        { field: 'history.run.this_tool.attempts', op: 'eq', value: 2 },
        { field: 'history.run.this_tool.attempts', op: 'gt', value: 3 },
      ],
    }),
    { history: () => 1 },
    ['deny if history.run.this_tool.attempts == 2', 'deny if history.run.this_tool.attempts > 3'],
  ],
  [
    'a count of some time',
    of('deny', { field: 'history.window.this_tool.executed', op: 'gte', value: 5, window: '10m' }),
    { history: () => 9 },
    ['allow if history.window.this_tool.executed (10m) < 5'],
  ],
  [
    'a sum, and the amount that is part of it',
    of('deny', { field: 'history.run.this_tool.total(args.amount)', op: 'gt', value: 500 }),
    { args: { amount: 200 }, history: () => 600 },
    ['allow if history.run.this_tool.total(args.amount) <= 500', 'allow if args.amount <= 100'],
  ],
  [
    'an amount under a limit and in a sum',
    of('deny', {
      any: [
        { field: 'amount', op: 'gt', value: 250 },
        { field: 'history.run.this_tool.total(args.amount)', op: 'gt', value: 620 },
      ],
    }),
    { args: { amount: 200 }, history: () => 600 },
    ['deny if args.amount > 220', 'deny if history.run.this_tool.total(args.amount) > 620'],
  ],
])('says what would change the outcome: %s', (_, sets, changes, expected) => {
  expect(explainDecision(sets, 'refunds', makeFacts(changes)).turns).toEqual(expected)
})

test('a set that cannot be evaluated has a decision and nothing else', () => {
  const { decision, policies, turns } = explainDecision(setsOf(grant), 'nothing-bound', makeFacts())
  expect(decision.error).toBe('policy_error:not_bound')
  expect([policies, turns]).toEqual([[], []])
})

test('says of a repetition what a run would do', () => {
  const made = makeFacts({ args: { amount: 5, order: 'A-1' } })
  const facts = {
    ...made,
    tool: { ...made.tool, kind: 'tool' as const, labels: { 'svc/effect-key': 'refund:{args.order}' } },
    effect: { key: 'refund:A-1', repeated: true },
  }
  const { decision } = explainDecision(setsOf(grant), 'refunds', facts)
  expect([decision.decision, decision.reasons]).toEqual(['require_approval', ['effect_repeated']])
  const first = explainDecision(setsOf(grant), 'refunds', { ...facts, effect: { key: 'refund:A-1', repeated: false } })
  expect(first.decision.decision).toBe('allow')
})
