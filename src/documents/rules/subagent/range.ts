import { subAgentsOf, textMember } from '../../facts/agents/bindings.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentRange: LintRule = {
  severity: 'error',
  essential: true,
  law: 'An external sub-agent is pinned to an exact version.',
  fix: 'Write one exact version.',
  source: 'Authoring format, "Versioning", 3: `namespace.name@version`',
  kinds: ['Agent'],
  check(document, report) {
    for (const { value, pointer } of subAgentsOf(document)) {
      const ref = readAgentRef(textMember(value, 'ref') ?? '')
      // With `late_bound`, `subagent/ref-form` reports any version.
      if (ref.form !== 'range' || value['late_bound'] === true) continue
      report(`${pointer}/ref`, `"${ref.range}" is not an exact version; a sub-agent is pinned.`, {
        fix: `Write one such as ${ref.id}@1.0.0.`,
      })
    }
  },
}
