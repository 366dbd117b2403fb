import { coveringPolicy } from '../../prove/covering.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyShadowed: LintRule = {
  name: 'policy/shadowed',
  severity: 'warning',
  law: 'A policy changes some decision: a denial below another denial that covers it changes none.',
  fix: 'Remove it, or correct its bound.',
  source: 'Policies, section 4: the strictest of all fired gates',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit, pay.large]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policies.yaml':
      'kind: Policy\nspec: {conditions: {field: args.amount, op: gt, value: 500}}\n---\nkind: Policy\nmetadata: {name: large, namespace: pay, version: "1.0.0"}\nspec: {conditions: {field: args.amount, op: gt, value: 900}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit, pay.large]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policies.yaml':
      'kind: Policy\nspec: {conditions: {field: args.amount, op: gt, value: 500}, decision: {type: require_approval, timeout: {after_minutes: 5, default: deny}}}\n---\nkind: Policy\nmetadata: {name: large, namespace: pay, version: "1.0.0"}\nspec: {conditions: {field: args.amount, op: gt, value: 900}}\n',
  },
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const by = coveringPolicy(workspace, document, ['deny', 'block'], ['deny', 'block'])
    if (by === undefined) return
    report('/spec/conditions', `${by.identity?.id ?? 'Another policy'} denies every call that this one denies.`, {
      related: [{ path: by.path, range: by.placeOf('/spec/conditions').range, message: 'covers it' }],
    })
  },
}
