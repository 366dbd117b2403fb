/** Policies and payments to decide: an approval, a denial or a grant above an amount, for a currency and some countries. */
import type { JsonObject } from '../../src/base/json/json.ts'
import type { CallFacts, PolicySets } from '../../src/policy/condition/decision.ts'
import { entryIdOf, sealSet } from '../../src/policy/policy-set.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'

export interface Rule {
  readonly name: string
  readonly effect: 'require_approval' | 'deny' | 'grant'
  readonly above: number
  readonly currency: string
  readonly countries: readonly string[]
}

export interface Payment {
  readonly amount: number
  readonly currency: string
  readonly payee: { readonly country: string }
}

const EFFECTS = ['require_approval', 'deny', 'grant'] as const

export const rulesOf = (count: number): readonly Rule[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `bench.rule-${index}`,
    effect: EFFECTS[index % EFFECTS.length]!,
    above: 100 + 50 * index,
    currency: index % 7 === 6 ? 'USD' : 'EUR',
    countries: ['DE', 'FR', index % 5 === 4 ? 'IT' : 'ES'],
  }))

/** Payments that are decided in turn, so that no branch is always taken. */
export const payments: readonly Payment[] = Array.from({ length: 16 }, (_, index) => ({
  amount: 40 + 170 * index,
  currency: index % 3 === 2 ? 'USD' : 'EUR',
  payee: { country: ['DE', 'ES', 'IT', 'CH'][index % 4]! },
}))

const conditionOf = ({ above, currency, countries }: Rule): JsonObject => ({
  all: [
    { field: 'args.amount', op: 'gt', value: above },
    { field: 'args.currency', op: 'eq', value: currency },
    { field: 'args.payee.country', op: 'in', value: [...countries] },
  ],
})

/** A set nobody has compiled yet. */
export function setsOf(rules: readonly Rule[]): PolicySets {
  const entries = rules.map((rule): PolicyEntry => {
    const content = {
      policy: rule.name,
      version: '1.0.0',
      effect: rule.effect,
      when: conditionOf(rule),
      obligations: {},
      reason: `Above ${rule.above}`,
      origin: [],
    }
    return { ...content, id: entryIdOf(content) }
  })
  const index = { pay: entries.map(({ id }) => id) }
  return {
    own: sealSet({ v: 1, compiler: '1', agent: 'bench.agent', entries, index, inherited: [] }),
    ancestors: [],
  }
}

export const factsOf = (args: Payment): CallFacts => ({
  args: args as unknown as JsonObject,
  tool: { id: 'bench.pay', version: '1.0.0', wire_name: 'pay', kind: 'tool', labels: {} },
  agent: { id: 'bench.agent', version: '1.0.0', classifications: [], labels: {} },
  run: {
    depth: 0,
    is_subagent: false,
    iteration: 1,
    elapsed_seconds: 0,
    tokens_used: 0,
    trigger_type: 'api',
    taint: false,
  },
  session: { run_count: 1, tokens_used: 0, elapsed_seconds: 0 },
  principal: { type: 'api_key', id: 'bench' },
  svc: { dispatch: { trigger: 'none' }, limit: 'none' },
  now: 0,
  history: () => 0,
})
