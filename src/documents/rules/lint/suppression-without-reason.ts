import type { LintRule } from '../../facts/rule.ts'

export const lintSuppressionWithoutReason: LintRule = {
  severity: 'error',
  law: 'Suppressing a security or authority rule needs a reason.',
  fix: 'Append the reason: `RULE -- reason`.',
  reason: 'A reviewer can then judge the exception.',
}
