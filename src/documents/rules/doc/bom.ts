import type { LintRule } from '../../facts/rule.ts'

export const docBom: LintRule = {
  severity: 'warning',
  law: 'A file has no byte order mark.',
  fix: 'Save the file as UTF-8 without a byte order mark.',
}
