import { checkSecretDeclared } from '../../facts/declared-secret.ts'
import type { LintRule } from '../../facts/rule.ts'

export const secretUndeclared: LintRule = {
  severity: 'error',
  law: "`auth.secret` of an MCP server names a key of the agent's `secrets`.",
  fix: 'Declare it under `secrets`, or correct the name.',
  source: 'Authoring format, "MCP server entry" and "Authentication"',
  kinds: ['Agent'],
  check: checkSecretDeclared('spec.mcp_servers.*.auth.secret'),
}
