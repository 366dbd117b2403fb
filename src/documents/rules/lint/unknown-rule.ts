import type { LintRule } from '../../facts/rule.ts'

export const lintUnknownRule: LintRule = {
  severity: 'error',
  law: 'A suppression comment names an existing rule.',
  fix: 'Correct the name of the rule: svc explain RULE.',
  reason: 'A misspelt name suppresses nothing.',
}
