import type { LintRule } from '../../facts/rule.ts'

export const lintUnusedSuppression: LintRule = {
  severity: 'warning',
  law: 'A suppression comment suppresses at least one finding.',
  fix: 'Remove the comment.',
  reason: 'It would hide a later finding that nobody has seen.',
}
