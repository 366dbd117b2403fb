import { effectiveClass, toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { labelOfTool } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolProbeUnusable: LintRule = {
  severity: 'warning',
  law: 'The tool that `svc/probe` names is bound by the same agent and is `read_only`.',
  fix: 'Bind it in the same agent with side_effect_class read_only, or remove the label.',
  reason: 'After a crash the probe asks whether a call was executed; it must not change anything.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const uses = toolsOf(document)
    for (const use of uses) {
      const tool = toolDocument(workspace, use)
      const wanted = tool && labelOfTool(tool, 'svc/probe')
      if (tool === undefined || wanted === undefined) continue
      const probe = uses.find(({ ref }) => ref?.id === wanted)
      const place = `${use.pointer}/ref`
      if (!probe) report(place, `${tool.identity.id} is probed with ${wanted}, which this agent does not bind.`, WHY)
      else if (effectiveClass(workspace, probe) !== 'read_only')
        report(place, `${tool.identity.id} is probed with ${wanted}, which is not read_only.`, WHY)
    }
  },
}

const WHY = { why: 'When the outcome of a call is unknown, the person who decides about it cannot look it up.' }
