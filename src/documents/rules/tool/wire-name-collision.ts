import { subAgentsOf, textAt, toolsOf, wireNameOf, type CallBinding } from '../../facts/bindings.ts'
import { readLogicalRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const wireNameCollision: LintRule = {
  name: 'tool/wire-name-collision',
  severity: 'error',
  law: 'Tools and sub-agents of an agent have distinct names on the wire.',
  fix: 'Give one of them another name with `as`.',
  source: 'Decisions, section 14',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1}, {ref: shop.refund@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml':
      'kind: Tool\nspec: {side_effect_class: read_only}\n---\nkind: Tool\nmetadata: {name: refund, namespace: shop, version: "1.0.0"}\nspec: {side_effect_class: read_only}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1}, {ref: shop.refund@^1, as: shop_refund}]\n  limits: {max_loop_iterations: 5}\n',
    'tools.yaml':
      'kind: Tool\nspec: {side_effect_class: read_only}\n---\nkind: Tool\nmetadata: {name: refund, namespace: shop, version: "1.0.0"}\nspec: {side_effect_class: read_only}\n',
  },
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const first = new Map<string, CallBinding>()
    for (const binding of [...toolsOf(document), ...subAgentsOf(document)]) {
      const wire = wireNameOf(workspace, binding)
      if (wire === undefined) continue
      const before = first.get(wire)
      if (before === undefined) first.set(wire, binding)
      // `tool/duplicate-binding` speaks of the same tool twice.
      else if (!sameTool(before, binding))
        report(nameOf(binding), `Two bindings have the name "${wire}" on the wire.`, {
          fix: 'Give one of them another name with `as`.',
          related: [{ path: document.path, range: document.placeOf(nameOf(before)).range, message: 'first here' }],
        })
    }
  },
}

const nameOf = ({ pointer, value }: CallBinding): string =>
  `${pointer}/${textAt(value, 'as') === undefined ? 'ref' : 'as'}`

function sameTool(a: CallBinding, b: CallBinding): boolean {
  const [one, other] = [a, b].map(({ value, pointer }) =>
    pointer.startsWith('/spec/tools/') ? readLogicalRef(textAt(value, 'ref') ?? '')?.id : undefined,
  )
  return one !== undefined && one === other
}
