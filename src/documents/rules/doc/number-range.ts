import type { LintRule } from '../../facts/rule.ts'

export const docNumberRange: LintRule = {
  severity: 'error',
  law: 'A number can be represented exactly: at most 9007199254740991 (2^53 - 1), with no more digits than a double holds.',
  fix: 'Put the number in quotes if the field accepts a string.',
  reason: 'A number that is rounded is another number.',
}
