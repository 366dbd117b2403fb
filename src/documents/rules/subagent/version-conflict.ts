import { subAgentsOf, textMember } from '../../facts/agents/bindings.ts'
import { closureOf, isRoot } from '../../facts/agents/closure.ts'
import type { Document } from '../../text/document.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentVersionConflict: LintRule = {
  severity: 'error',
  law: 'A closure contains only one version of each agent.',
  fix: 'Use one version everywhere.',
  reason: 'Two versions of an agent would answer to the same name.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    if (!isRoot(workspace, document)) return
    const first = new Map<string, { readonly version: string; readonly at: Document; readonly pointer: string }>()
    const closure = closureOf(workspace, document)
    for (const at of closure)
      if (at.identity !== undefined)
        first.set(at.identity.id, { version: at.identity.version, at, pointer: '/metadata/version' })
    for (const agent of closure)
      for (const { pointer, value } of subAgentsOf(agent)) {
        const ref = readAgentRef(textMember(value, 'ref') ?? '')
        if (ref.form !== 'pinned' || value['late_bound'] === true) continue
        const before = first.get(ref.id)
        if (before === undefined) first.set(ref.id, { version: ref.version, at: agent, pointer: `${pointer}/ref` })
        else if (before.version !== ref.version)
          report(
            agent.placeOf(`${pointer}/ref`),
            `${ref.id} is here in version ${ref.version}, elsewhere in ${before.version}.`,
            {
              related: [
                {
                  path: before.at.path,
                  range: before.at.placeOf(before.pointer).range,
                  message: `${before.version} here`,
                },
              ],
            },
          )
      }
  },
}
