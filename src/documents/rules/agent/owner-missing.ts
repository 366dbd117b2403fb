import type { LintRule } from '../../facts/rule.ts'

export const ownerMissing: LintRule = {
  name: 'agent/owner-missing',
  severity: 'info',
  strict: 'warning',
  law: 'Somebody answers for an agent.',
  fix: 'Add `metadata.owner`.',
  source: 'Authoring format, "Agent document": `metadata.owner`',
  kinds: ['Agent'],
  check(document, report) {
    if (document.at('metadata.owner').length === 0)
      report('/metadata/name', 'Nobody is named as the owner of this agent.')
  },
}
