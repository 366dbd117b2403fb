import { toolsOf } from '../../facts/agents/bindings.ts'
import { agentCapabilitiesOf, capabilitiesOf } from '../../facts/agents/capabilities.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securityDataUriImage: LintRule = {
  severity: 'info',
  law: 'Output with private data that is shown as Markdown does not load images from other hosts.',
  fix: 'Strip remote images where the answer is shown, or answer in JSON.',
  reason: 'The address of an image can carry private data to another host.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    if (document.at('output.format')[0]?.value === 'json') return
    if (!agentCapabilitiesOf(workspace, document).private) return
    const can = toolsOf(document).map((use) => capabilitiesOf(workspace, use))
    // Labels only: a guessed capability would cause too many findings.
    if (can.some((each) => each.private === 'label') && !can.some((each) => each.egress !== undefined))
      report('/metadata/name', 'This agent answers in text about private data: an image in it could carry data out.')
  },
}
