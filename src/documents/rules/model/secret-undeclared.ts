import { checkSecretDeclared } from '../../facts/declared-secret.ts'
import type { LintRule } from '../../facts/rule.ts'

export const modelSecretUndeclared: LintRule = {
  severity: 'error',
  law: "`model.secret` names a key of the agent's `secrets`.",
  fix: 'Declare it under `secrets`, or correct the name.',
  source: 'Authoring format, "spec.model" and "Authentication"',
  kinds: ['Agent'],
  check: checkSecretDeclared('spec.model.secret'),
}
