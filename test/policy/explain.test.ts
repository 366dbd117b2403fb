import { expect, test } from 'vitest'
import { explain } from '../../src/policy/explain.ts'
import { makeEntry, makeFacts, setsOf } from './make.ts'

const grant = makeEntry({ policy: 'acme.small', effect: 'grant', when: { field: 'amount', op: 'lte', value: 100 } })
const approval = makeEntry({
  policy: 'acme.large',
  effect: 'require_approval',
  when: { all: [{ field: 'amount', op: 'gt', value: 100 }, { not: { field: 'tier', value: 'gold' } }] },
})
const denial = makeEntry({ policy: 'acme.too-much', effect: 'deny', when: { field: 'amount', op: 'gt', value: 5000 } })

test('shows the tree with what each comparison saw', () => {
  const { policies } = explain(setsOf(approval), 'refunds', makeFacts({ args: { amount: 180 } }))
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
  expect(explain(setsOf(approval, grant, denial), 'refunds', facts).turns).toEqual([
    'allow if args.amount <= 100',
    'deny if args.amount > 5000',
  ])
})

test('a set that cannot be evaluated has a decision and nothing else', () => {
  const { decision, policies, turns } = explain(setsOf(grant), 'nothing-bound', makeFacts())
  expect(decision.error).toBe('policy_error:not_bound')
  expect([policies, turns]).toEqual([[], []])
})
