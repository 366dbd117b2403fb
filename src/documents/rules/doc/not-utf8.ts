import type { LintRule } from '../../facts/rule.ts'

export const docNotUtf8: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A file is UTF-8.',
  fix: 'Save the file as UTF-8 without a byte order mark.',
}
