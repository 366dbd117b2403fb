import type { LintRule } from '../../facts/rule.ts'

export const docApiVersion: LintRule = {
  severity: 'error',
  essential: true,
  law: '`apiVersion` is the constant `svc/v1`.',
  fix: 'Write `apiVersion: svc/v1`.',
  source: 'Authoring format, "Versioning", 1',
}
