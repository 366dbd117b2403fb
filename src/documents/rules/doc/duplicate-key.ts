import type { LintRule } from '../../facts/rule.ts'

export const docDuplicateKey: LintRule = {
  severity: 'error',
  law: 'A key appears only once in a mapping.',
  fix: 'Merge the two entries.',
  source: 'Authoring format, "Resources and their fields"',
}
