import type { LintRule } from '../../facts/rule.ts'

export const docSchema: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A document has all required fields of its kind, each of the right type.',
  fix: 'Write a value that the field accepts; `svc schema KIND` prints the schema.',
  source: 'Authoring format, "Resources and their fields"',
}
