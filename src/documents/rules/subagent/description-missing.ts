import { subAgentsOf, textMember } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentDescriptionMissing: LintRule = {
  severity: 'warning',
  law: 'A sub-agent binding has a description for the model.',
  fix: 'Add `description`.',
  source: 'Authoring format, "Sub-agent binding": `description` is presented to the parent model',
  kinds: ['Agent'],
  check(document, report) {
    for (const { pointer, value } of subAgentsOf(document))
      if ((textMember(value, 'description') ?? '').trim() === '')
        report(`${pointer}/ref`, 'The model gets no description of this sub-agent.')
  },
}
