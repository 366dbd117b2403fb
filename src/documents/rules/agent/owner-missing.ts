import type { LintRule } from '../../facts/rule.ts'

export const agentOwnerMissing: LintRule = {
  severity: 'info',
  strict: 'warning',
  law: 'An agent has an owner.',
  fix: 'Add `metadata.owner`.',
  source: 'Authoring format, "Agent document": `metadata.owner`',
  kinds: ['Agent'],
  check(document, report) {
    if (document.at('metadata.owner').length === 0) report('/metadata/name', 'This agent has no owner.')
  },
}
