import type { LintRule } from '../../facts/rule.ts'

export const lintSuppressionWithoutReason: LintRule = {
  name: 'lint/suppression-without-reason',
  severity: 'error',
  law: 'A rule about security or authority is silenced with a reason.',
  fix: 'Append the reason: `RULE -- reason`.',
  source: 'Lint rules, "Suppress"',
}
