import type { LintRule } from '../../facts/rule.ts'

export const docTooLarge: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A file has at most 1 MiB, 64 levels of nesting and 10,000 keys per mapping, and its aliases expand it at most a hundredfold.',
  fix: 'Move long texts to files of their own and name them with `ref`.',
  reason: 'Files are read into memory.',
}
