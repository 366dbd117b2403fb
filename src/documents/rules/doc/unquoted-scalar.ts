import type { LintRule } from '../../facts/rule.ts'

export const docUnquotedScalar: LintRule = {
  severity: 'error',
  law: 'A string that looks like a number or a boolean is quoted.',
  fix: 'Put the text in quotes.',
  source: 'Authoring format, "Resources and their fields"',
}
