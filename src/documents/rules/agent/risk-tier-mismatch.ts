import { capabilitiesOf } from '../../facts/agents/capabilities.ts'
import { effectiveClass, toolsOf } from '../../facts/agents/bindings.ts'
import { closureOf } from '../../facts/agents/closure.ts'
import type { LintRule } from '../../facts/rule.ts'

export const agentRiskTierMismatch: LintRule = {
  severity: 'warning',
  law: 'An agent with a low risk tier has no irreversible actions.',
  fix: 'Raise the risk tier, or move the tool to another agent.',
  source: 'Authoring format, "metadata.governance": `risk_tier`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    const tier = document.texts('metadata.governance.risk_tier')[0]
    if (tier === undefined || !/^(?:low|minimal|limited|none)$/i.test(tier.value)) return
    const uses = closureOf(workspace, document).flatMap(toolsOf)
    const irreversible = uses.find((use) => effectiveClass(workspace, use) === 'irreversible_action')
    if (irreversible !== undefined) {
      report(tier, `The tier is "${tier.value}", but ${irreversible.ref?.id ?? 'a tool'} cannot be undone.`)
      return
    }
    const all = uses.map((use) => capabilitiesOf(workspace, use))
    if ((['private', 'untrusted', 'egress'] as const).every((what) => all.some((each) => each[what] === 'label')))
      report(tier, `The tier is "${tier.value}", but the agent joins private data, untrusted content and a way out.`)
  },
}
