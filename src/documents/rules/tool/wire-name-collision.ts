import { subAgentsOf, textMember, toolsOf, wireNameOf, type CallBinding } from '../../facts/agents/bindings.ts'
import { readLogicalRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolWireNameCollision: LintRule = {
  severity: 'error',
  law: 'Tools and sub-agents of an agent have distinct wire names.',
  fix: 'Give one of them another name with `as`.',
  reason: 'The model calls a tool by its wire name.',
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const first = new Map<string, CallBinding>()
    for (const binding of [...toolsOf(document), ...subAgentsOf(document)]) {
      const wire = wireNameOf(workspace, binding)
      if (wire === undefined) continue
      const before = first.get(wire)
      if (before === undefined) first.set(wire, binding)
      // `tool/duplicate-binding` reports the same tool bound twice.
      else if (!sameTool(before, binding))
        report(nameOf(binding), `Two bindings have the name "${wire}" on the wire.`, {
          fix: 'Give one of them another name with `as`.',
          related: [{ path: document.path, range: document.placeOf(nameOf(before)).range, message: 'first here' }],
        })
    }
  },
}

const nameOf = ({ pointer, value }: CallBinding): string =>
  `${pointer}/${textMember(value, 'as') === undefined ? 'ref' : 'as'}`

function sameTool(a: CallBinding, b: CallBinding): boolean {
  const [one, other] = [a, b].map(({ value, pointer }) =>
    pointer.startsWith('/spec/tools/') ? readLogicalRef(textMember(value, 'ref') ?? '')?.id : undefined,
  )
  return one !== undefined && one === other
}
