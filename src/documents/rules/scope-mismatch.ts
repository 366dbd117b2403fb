import { attachmentsOf, scopeOf } from '../attachments.ts'
import { toolsOf } from '../bindings.ts'
import type { Rule } from '../rule.ts'

export const scopeMismatch: Rule = {
  name: 'policy/scope-mismatch',
  severity: 'error',
  law: 'A policy that is attached to a binding concerns the tool of the binding.',
  fix: 'Attach it to the binding of that tool, or change its scope.',
  source: 'Policies, section 3: a policy attached to a binding concerns that binding only; `scope` narrows it',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policy.yaml': 'kind: Policy\nspec: {scope: "tool:pay.wire"}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policy.yaml': 'kind: Policy\nspec: {scope: "tool:pay.refund"}\n',
  },
  crossFile: true,
  check(document, report, { workspace }) {
    const ids = new Map(toolsOf(document).map(({ pointer, ref }) => [pointer, ref?.id]))
    const own = document.kind === 'Tool' ? document.identity?.id : undefined
    for (const { at, binding, policies } of attachmentsOf(workspace, document)) {
      const id = binding === undefined ? own : ids.get(binding)
      const policy = policies[0]
      const scope = policy && scopeOf(policy)
      if (id === undefined || policy === undefined || scope === undefined || scope === id) continue
      report(at, `${policy.identity?.id ?? at.value} concerns ${scope} alone; attached to ${id} it never applies.`, {
        related: [{ path: policy.path, range: policy.placeOf('/spec/scope').range, message: 'its scope' }],
      })
    }
  },
}
