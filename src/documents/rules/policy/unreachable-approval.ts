import { coveringPolicy } from '../../prove/covering.ts'
import type { LintRule } from '../../facts/rule.ts'

export const unreachableApproval: LintRule = {
  name: 'policy/unreachable-approval',
  severity: 'warning',
  law: 'An approval is asked for some call that no stricter policy stops.',
  fix: 'Move a bound.',
  source: 'Policies, section 4: deny = block > escalate > require_approval',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit, pay.large]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policies.yaml':
      'kind: Policy\nspec: {conditions: {field: args.amount, op: gt, value: 100}}\n---\nkind: Policy\nmetadata: {name: large, namespace: pay, version: "1.0.0"}\nspec: {conditions: {field: args.amount, op: gt, value: 500}, decision: {type: require_approval, timeout: {after_minutes: 5, default: deny}}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit, pay.large]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policies.yaml':
      'kind: Policy\nspec: {conditions: {field: args.amount, op: gt, value: 500}}\n---\nkind: Policy\nmetadata: {name: large, namespace: pay, version: "1.0.0"}\nspec: {conditions: {field: args.amount, op: gt, value: 100}, decision: {type: require_approval, timeout: {after_minutes: 5, default: deny}}}\n',
  },
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const by = coveringPolicy(workspace, document, ['require_approval'], ['deny', 'block', 'escalate'])
    if (by === undefined) return
    report('/spec/decision/type', `${by.identity?.id ?? 'A stricter policy'} stops every call for which this asks.`, {
      related: [{ path: by.path, range: by.placeOf('/spec/decision/type').range, message: 'overrules it' }],
    })
  },
}
