import { gatedBindings } from '../../facts/policies/attachments.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import { isDeclaredOptional } from '../../text/property.ts'
import { gateEffectOf } from '../../facts/policies/authority.ts'
import { leavesIn } from '../../facts/policies/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyFailOpenIfMissing: LintRule = {
  severity: 'warning',
  law: 'A gate does not let a call pass because an argument is absent, unless a suppression gives the reason.',
  fix: 'Remove `if_missing: false`, or suppress this rule with the reason.',
  reason: 'A model can leave the argument out to avoid the gate.',
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (gateEffectOf(document) !== 'gate') return
    const schemas = gatedBindings(workspace, document).map((use) => inputOf(workspace, use)?.value)
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.ifMissing !== false || leaf.path.root !== 'args') continue
      // For arguments that the schema leaves optional, `policy/optional-field` recommends this.
      const optional = schemas.some((schema) => schema !== undefined && isDeclaredOptional(schema, leaf.path.segments))
      if (!optional) report(`${pointer}/if_missing`, `This gate lets calls without ${leaf.path.text} pass.`)
    }
  },
}
