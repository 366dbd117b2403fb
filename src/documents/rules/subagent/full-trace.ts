import { capabilitiesOf } from '../../facts/agents/capabilities.ts'
import { toolsOf } from '../../facts/agents/bindings.ts'
import { closureOf, subAgentEdges } from '../../facts/agents/closure.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentFullTrace: LintRule = {
  severity: 'warning',
  law: 'A sub-agent that handles private data or secrets returns a summary.',
  fix: 'Write `result: summary`.',
  source: 'Authoring format, "Sub-agent binding": `full` includes the step trace',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    // With an outbound channel in the parent, `security/private-result-full` reports it.
    const leaks = (): boolean => toolsOf(document).some((use) => capabilitiesOf(workspace, use).egress !== undefined)
    for (const { pointer, value, child } of subAgentEdges(workspace, document)) {
      if (value['result'] !== 'full') continue
      const uses = closureOf(workspace, child).flatMap(toolsOf)
      const found = uses.map((use) => ({ use, data: capabilitiesOf(workspace, use).private }))
      const first = found.find(({ data }) => data === 'label' && !leaks()) ?? found.find(({ data }) => data === 'guess')
      const secret = child.texts('spec.mcp_servers.*.auth.secret')[0]
      const what = first?.use.ref?.id ?? (secret === undefined ? undefined : `the secret "${secret.value}"`)
      if (what === undefined) continue
      report(
        `${pointer}/result`,
        `The full trace of a sub-agent that uses ${what} is added to the messages of this run.`,
      )
    }
  },
}
