import { subAgentsOf, textAt } from '../../facts/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentDescriptionMissing: LintRule = {
  name: 'subagent/description-missing',
  severity: 'warning',
  law: 'The model is told what a sub-agent is for.',
  fix: 'Add `description`.',
  source: 'Authoring format, "Sub-agent binding": `description` is presented to the parent model',
  kinds: ['Agent'],
  check(document, report) {
    for (const { pointer, value } of subAgentsOf(document))
      if ((textAt(value, 'description') ?? '').trim() === '')
        report(`${pointer}/ref`, 'Nothing tells the model what this sub-agent is for.')
  },
}
