import { subAgentEdges } from '../../facts/agents/closure.ts'
import { isExternalAgent } from '../../facts/agents/external.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentExternal: LintRule = {
  severity: 'error',
  law: 'A sub-agent has a model of its own: none stands for a client (`provider: external`).',
  fix: 'Bind its tools instead, or give it a model.',
  reason: 'Only its client runs such an agent, so a delegation to it is refused.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const { pointer, child } of subAgentEdges(workspace, document))
      if (isExternalAgent(child))
        report(pointer, 'This sub-agent stands for a client, so nothing can be delegated to it.')
  },
}
