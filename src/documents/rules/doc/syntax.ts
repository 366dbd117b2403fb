import type { LintRule } from '../../facts/rule.ts'

export const docSyntax: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A document is YAML 1.2 or JSON, without tags.',
  fix: 'Indent with spaces, close every bracket and quote.',
  source: 'Authoring format, "Resources and their fields"',
}
