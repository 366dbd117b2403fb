import { conditionOf } from '../conditions.ts'
import { domainsOf, mismatched } from '../policy-domains.ts'
import { satisfiable } from '../reasoning.ts'
import type { Rule } from '../rule.ts'

export const neverTrue: Rule = {
  name: 'policy/never-true',
  severity: 'error',
  law: 'A condition can be true for some call that the input schema allows.',
  fix: 'Compare with values that the schema allows.',
  source: 'Policies, section 1: arguments are validated before a policy sees them',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml':
      'kind: Tool\nspec:\n  input_schema: {inline: {type: object, required: [currency], properties: {currency: {enum: [USD, CAD]}}}}\n',
    'policy.yaml': 'kind: Policy\nspec: {conditions: {field: args.currency, op: in, value: [GBP]}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml':
      'kind: Tool\nspec:\n  input_schema: {inline: {type: object, required: [currency], properties: {currency: {enum: [USD, CAD]}}}}\n',
    'policy.yaml': 'kind: Policy\nspec: {conditions: {field: args.currency, op: in, value: [CAD]}}\n',
  },
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const condition = conditionOf(document)
    const known = condition && domainsOf(workspace, document)
    if (condition === undefined || known === undefined || known.length === 0) return
    if (known.some(({ domains }) => satisfiable(condition, domains))) return
    // `policy/contradiction` speaks of what is impossible whatever the schema, `policy/type-mismatch` of other types.
    if (!satisfiable(condition) || mismatched(known, condition)) return
    report(
      '/spec/conditions',
      `No call of ${[...new Set(known.map(({ tool }) => tool))].join(' or ')} makes these conditions true.`,
      {
        related: known.slice(0, 1).map(({ schema }) => ({
          path: schema.spans.source.path,
          range: schema.spans.placeOf(`${schema.base}/properties`).range,
          message: 'the arguments that are allowed',
        })),
      },
    )
  },
}
