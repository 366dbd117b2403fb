import { EFFECT_KEY } from '../../../policy/condition/effect-key.ts'
import { toolDocument } from '../../facts/agents/bindings.ts'
import { labelOfTool } from '../../facts/effect-keys.ts'
import { gatedBindings } from '../../facts/policies/attachments.ts'
import { leavesIn } from '../../facts/policies/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyEffectWithoutKey: LintRule = {
  severity: 'warning',
  law: 'A condition on `effect` applies to tools that have an effect key.',
  fix: 'Scope the policy to those tools, or declare `svc/effect-key`.',
  reason: 'Without a key the condition is unknown: a gate applies to every call, and a grant to none.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const uses = leavesIn(document).filter(({ leaf }) => leaf.path.root === 'effect')
    if (uses.length === 0) return
    const without = gatedBindings(workspace, document).find((use) => {
      const tool = toolDocument(workspace, use)
      return tool !== undefined && labelOfTool(tool, EFFECT_KEY) === undefined
    })
    if (without?.ref === undefined) return
    for (const { pointer, leaf } of uses)
      report(`${pointer}/field`, `${leaf.path.text} is unknown for ${without.ref.id}, which has no effect key.`)
  },
}
