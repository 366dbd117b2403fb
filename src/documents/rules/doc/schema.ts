import type { LintRule } from '../../facts/rule.ts'

export const docSchema: LintRule = {
  name: 'doc/schema',
  severity: 'error',
  law: 'A document has the fields of its kind, of the right type, and all that are required.',
  fix: 'Write what the field takes: svc schema KIND.',
  source: 'Authoring format, "Resources and their fields"',
}
