import { scopeOf } from '../attachments.ts'
import { boundariesOf } from '../authority.ts'
import { subAgentsOf, childOf, toolsOf } from '../bindings.ts'
import { closureOf } from '../closure.ts'
import type { Rule } from '../rule.ts'

export const ineffective: Rule = {
  name: 'authority/ineffective',
  severity: 'error',
  law: 'The policies of a boundary concern some tool of the agent, or of those to which it delegates.',
  fix: 'Correct the scope of its policies.',
  source: 'Policies, section 6; authoring format, "What the service does", 3',
  bad: {
    'agent.yaml':
      'kind: Agent\nmetadata: {name: desk, namespace: acme, version: "1.0.0", governance: {authority_boundaries: [spend]}}\nspec:\n  tools: [{ref: pay.refund@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml': 'kind: Tool\n---\nkind: Tool\nmetadata: {name: wire, namespace: pay, version: "1.0.0"}\n',
    'policy.yaml': 'kind: Policy\nspec: {scope: "tool:pay.wire", decision: {type: deny, authority_ref: spend}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nmetadata: {name: desk, namespace: acme, version: "1.0.0", governance: {authority_boundaries: [spend]}}\nspec:\n  tools: [{ref: pay.refund@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policy.yaml': 'kind: Policy\nspec: {scope: "tool:pay.refund", decision: {type: deny, authority_ref: spend}}\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const closure = closureOf(workspace, document)
    // What a sub-agent from elsewhere binds is not known here.
    if (closure.some((agent) => subAgentsOf(agent).some((edge) => childOf(workspace, edge) === undefined))) return
    const bound = new Set(closure.flatMap(toolsOf).map(({ ref }) => ref?.id))
    for (const { id, pointer, policies } of boundariesOf(workspace, document)) {
      const scopes = policies.map(scopeOf)
      if (policies.length === 0 || scopes.some((scope) => scope === undefined || bound.has(scope))) continue
      const [first] = policies
      report(
        pointer,
        `The boundary "${id}" changes no decision: its policies concern ${[...new Set(scopes)].join(', ')}, which this agent never calls.`,
        {
          related: [{ path: first!.path, range: first!.placeOf('/spec/scope').range, message: 'its scope' }],
        },
      )
    }
  },
}
