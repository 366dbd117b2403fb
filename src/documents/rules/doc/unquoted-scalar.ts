import type { LintRule } from '../../facts/rule.ts'

export const docUnquotedScalar: LintRule = {
  name: 'doc/unquoted-scalar',
  severity: 'error',
  law: 'A text that looks like a number or a truth value stands in quotes.',
  fix: 'Put the text in quotes.',
  source: 'Authoring format, "Resources and their fields"',
}
