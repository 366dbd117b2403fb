import { toolsOf } from '../../facts/agents/bindings.ts'
import { agentCapabilitiesOf, capabilitiesOf } from '../../facts/agents/capabilities.ts'
import { closureOf, subAgentEdges } from '../../facts/agents/closure.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securityPrivateResultFull: LintRule = {
  severity: 'warning',
  law: 'An agent with an outbound channel does not receive the full trace of a sub-agent that reads private data.',
  fix: 'Write `result: summary`.',
  reason: 'The trace contains what the sub-agent read, not only its answer.',
  source: 'Authoring format, "Sub-agent binding": `full` includes the step trace',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    if (!agentCapabilitiesOf(workspace, document).egress) return
    const egress = toolsOf(document).find((use) => capabilitiesOf(workspace, use).egress !== undefined)
    if (egress === undefined) return
    for (const { pointer, value, child } of subAgentEdges(workspace, document)) {
      if (value['result'] !== 'full') continue
      const source = closureOf(workspace, child)
        .flatMap(toolsOf)
        .find((use) => capabilitiesOf(workspace, use).private === 'label')
      if (source !== undefined)
        report(
          `${pointer}/result`,
          `What ${source.ref?.id ?? 'a tool'} reads is in the trace that this agent receives, and ${egress.ref?.id ?? 'a tool'} can send it.`,
        )
    }
  },
}
