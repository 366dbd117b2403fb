import type { LintRule } from '../../facts/rule.ts'

export const docUnknownKey: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A document has only the properties of its kind.',
  fix: 'Correct the name of the key, or remove it.',
  source: 'Authoring format, "Resources and their fields": unknown properties are rejected',
}
