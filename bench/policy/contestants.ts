/** Everything that decides a payment by the same rules. Each says whether the call is stopped, so that they can be compared. */
import {
  isAuthorized,
  preparsePolicySet,
  statefulIsAuthorized,
  type AuthorizationAnswer,
} from '@cedar-policy/cedar-wasm/nodejs'
import { celEnv, parse, plan } from '@bufbuild/cel'
import { parse as parseCel } from '@marcbachmann/cel-js'
import jsonLogic from 'json-logic-js'
import { Engine } from 'json-rules-engine'
import { decideByPolicies } from '../../src/policy/decide.ts'
import { evaluatePolicies } from '../../src/policy/evaluate-policies.ts'
import { factsOf, payments, setsOf, type Payment, type Rule } from './rules.ts'
import type { CallFacts } from '../../src/policy/condition/decision.ts'

type Decision = 'deny' | 'escalate' | 'require_approval' | 'allow'

/** One payment in the forms that contestants take. */
export interface Input {
  readonly payment: Payment
  readonly facts: CallFacts
}
export const inputs: readonly Input[] = payments.map((payment) => ({ payment, facts: factsOf(payment) }))

export type Decider = (input: Input) => Decision | Promise<Decision>

export interface Contestant {
  readonly name: string
  /** True where it knows only allow and deny: approvals count as denials. */
  readonly twoValued?: boolean
  readonly prepare: (rules: readonly Rule[]) => Decider
}

/** Kept where nothing can prove it unused. */
export const sink: { last?: unknown } = {}

export const contestants: readonly Contestant[] = [
  {
    name: 'closure with trace',
    prepare(rules) {
      const tests = rules.map(closureOf)
      return ({ payment }) => {
        const trace = tests.map((test) => test(payment))
        let decision: Decision = 'allow'
        for (const { effect, truth } of trace) {
          if (truth === 'false') continue
          if (effect === 'deny') decision = 'deny'
          else if (effect === 'require_approval' && decision === 'allow') decision = 'require_approval'
        }
        sink.last = trace
        return decision
      }
    },
  },
  {
    name: 'svc, verdict with trace',
    prepare(rules) {
      const sets = setsOf(rules)
      return ({ facts }) => {
        const verdict = evaluatePolicies(sets, 'pay', facts)
        sink.last = verdict
        return verdict.decision
      }
    },
  },
  {
    name: 'svc, decision in words',
    prepare(rules) {
      const sets = setsOf(rules)
      return ({ facts }) => {
        const decision = decideByPolicies(sets, 'pay', facts)
        sink.last = decision
        return decision.decision
      }
    },
  },
  {
    name: 'CEL, @marcbachmann/cel-js',
    prepare(rules) {
      const tests = rules.map((rule) => ({ effect: rule.effect, holds: parseCel(celOf(rule)) }))
      return ({ payment }) => strictestOf(tests, (holds) => holds(payment) === true)
    },
  },
  {
    name: 'CEL, @bufbuild/cel',
    prepare(rules) {
      const env = celEnv()
      const tests = rules.map((rule) => ({ effect: rule.effect, holds: plan(env, parse(celOf(rule))) }))
      return ({ payment }) => strictestOf(tests, (holds) => holds(payment as never) === true)
    },
  },
  {
    name: 'json-logic-js',
    prepare(rules) {
      const tests = rules.map(({ above, currency, countries, effect }) => ({
        effect,
        holds: {
          and: [
            { '>': [{ var: 'amount' }, above] },
            { '===': [{ var: 'currency' }, currency] },
            { in: [{ var: 'payee.country' }, countries] },
          ],
        },
      }))
      return ({ payment }) => strictestOf(tests, (holds) => jsonLogic.apply(holds, payment) === true)
    },
  },
  {
    name: 'json-rules-engine',
    twoValued: true,
    prepare(rules) {
      const engine = new Engine(
        rules
          .filter(({ effect }) => effect !== 'grant')
          .map(({ above, currency, countries, name }) => ({
            conditions: {
              all: [
                { fact: 'amount', operator: 'greaterThan', value: above },
                { fact: 'currency', operator: 'equal', value: currency },
                { fact: 'country', operator: 'in', value: countries },
              ],
            },
            event: { type: name },
          })),
      )
      return async ({ payment: { amount, currency, payee } }) => {
        const { events } = await engine.run({ amount, currency, country: payee.country })
        return events.length > 0 ? 'deny' : 'allow'
      }
    },
  },
  {
    name: 'Cedar wasm',
    twoValued: true,
    prepare(rules) {
      const policies = { staticPolicies: cedarOf(rules) }
      return ({ payment }) => read(isAuthorized({ ...request(payment), policies }))
    },
  },
  {
    name: 'Cedar wasm, parsed before',
    twoValued: true,
    prepare(rules) {
      const preparsedPolicySetId = `bench-${rules.length}`
      const answer = preparsePolicySet(preparsedPolicySetId, { staticPolicies: cedarOf(rules) })
      if (answer.type !== 'success') throw new Error(JSON.stringify(answer))
      return ({ payment }) => read(statefulIsAuthorized({ ...request(payment), preparsedPolicySetId }))
    },
  },
]

/** Two-valued rules without a trace. */
function strictestOf<T>(
  tests: readonly { readonly effect: Rule['effect']; readonly holds: T }[],
  isTrue: (holds: T) => boolean,
): Decision {
  let decision: Decision = 'allow'
  for (const { effect, holds } of tests) {
    if (!isTrue(holds)) continue
    if (effect === 'deny') decision = 'deny'
    else if (effect === 'require_approval' && decision === 'allow') decision = 'require_approval'
  }
  return decision
}

const celOf = ({ above, currency, countries }: Rule): string =>
  `amount > ${above}.0 && currency == ${JSON.stringify(currency)} && payee.country in ${JSON.stringify(countries)}`

type Truth = 'true' | 'false' | 'unknown'

/** What one would write by hand: the comparisons of this very rule, three-valued, keeping what they saw. */
function closureOf({ effect, above, currency, countries }: Rule) {
  const among = new Set(countries)
  return ({ amount, currency: given, payee }: Payment) => {
    const a: Truth = typeof amount !== 'number' ? 'unknown' : amount > above ? 'true' : 'false'
    const b: Truth = typeof given !== 'string' ? 'unknown' : given === currency ? 'true' : 'false'
    const country = payee?.country
    const c: Truth = typeof country !== 'string' ? 'unknown' : among.has(country) ? 'true' : 'false'
    const truth: Truth =
      a === 'false' || b === 'false' || c === 'false'
        ? 'false'
        : a === 'true' && b === 'true' && c === 'true'
          ? 'true'
          : 'unknown'
    const seen = [
      { truth: a, value: amount },
      { truth: b, value: given },
      { truth: c, value: country },
    ]
    return { effect, truth, seen }
  }
}

const uid = (type: string) => ({ type, id: 'x' })

const request = (payment: Payment) => ({
  principal: uid('Agent'),
  action: uid('Action'),
  resource: uid('Tool'),
  context: { ...payment, payee: { ...payment.payee } },
  entities: [],
})

const read = (answer: AuthorizationAnswer) => (answer.type === 'success' ? answer.response.decision : 'deny')

const cedarOf = (rules: readonly Rule[]): string =>
  [
    'permit(principal, action, resource);',
    ...rules
      .filter(({ effect }) => effect !== 'grant')
      .map(
        ({ above, currency, countries }) =>
          `forbid(principal, action, resource) when { context.amount > ${above} && context.currency == ${JSON.stringify(currency)} && ${JSON.stringify(countries)}.contains(context.payee.country) };`,
      ),
  ].join('\n')
