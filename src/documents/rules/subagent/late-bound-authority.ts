import { subAgentsOf, textMember } from '../../facts/agents/bindings.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentLateBoundAuthority: LintRule = {
  severity: 'warning',
  law: 'A late-bound delegation has a gate: what the deployed agent may do is not known at publish.',
  fix: 'Attach a policy to the binding.',
  source: 'Authoring format, "Sub-agent binding": `late_bound` resolves at call time',
  kinds: ['Agent'],
  check(document, report) {
    for (const { pointer, value } of subAgentsOf(document)) {
      if (value['late_bound'] !== true || (Array.isArray(value['policies']) && value['policies'].length > 0)) continue
      // `subagent/ref-form` reports late-bound references in another form.
      if (readAgentRef(textMember(value, 'ref') ?? '').form !== 'floating') continue
      report(
        `${pointer}/late_bound`,
        'What this sub-agent may do is unknown until it is called, and nothing gates the call.',
      )
    }
  },
}
