import { subAgentsOf, toolsOf } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const agentNoToolsButPolicies: LintRule = {
  severity: 'info',
  law: 'An agent with policies has tools or sub-agents to gate.',
  fix: 'Remove `default_policies`, or bind the tools that they gate.',
  source: 'Authoring format, "Agent document": `default_policies` are applied to every tool binding',
  kinds: ['Agent'],
  check(document, report) {
    if (document.at('spec.default_policies.*').length === 0) return
    if (toolsOf(document).length + subAgentsOf(document).length > 0) return
    report('/spec/default_policies', 'This agent has no tools or sub-agents that its policies could gate.')
  },
}
