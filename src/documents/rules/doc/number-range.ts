import type { LintRule } from '../../facts/rule.ts'

export const docNumberRange: LintRule = {
  name: 'doc/number-range',
  severity: 'error',
  law: 'A number is kept as it is written: it goes to 9007199254740991 (2^53 - 1) and has no more digits than a double.',
  fix: 'Put it in quotes, where a text may stand.',
  source: 'Decisions, section 1',
}
