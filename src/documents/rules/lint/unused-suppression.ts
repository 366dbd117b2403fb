import type { LintRule } from '../../facts/rule.ts'

export const lintUnusedSuppression: LintRule = {
  name: 'lint/unused-suppression',
  severity: 'warning',
  law: 'A comment that silences a rule silences something.',
  fix: 'Remove the comment.',
  source: 'Lint rules, "Suppress"',
}
