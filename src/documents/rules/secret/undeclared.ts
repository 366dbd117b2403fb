import type { LintRule } from '../../facts/rule.ts'
import { nearestCandidate } from '../../text/suggest.ts'

export const secretUndeclared: LintRule = {
  severity: 'error',
  law: "`auth.secret` of an MCP server names a key of the agent's `secrets`.",
  fix: 'Declare it under `secrets`, or correct the name.',
  source: 'Authoring format, "MCP server entry" and "Authentication"',
  kinds: ['Agent'],
  check(document, report) {
    const declared = document.at('secrets.*').map(({ key }) => key)
    for (const use of document.texts('spec.mcp_servers.*.auth.secret')) {
      if (declared.includes(use.value)) continue
      const near = nearestCandidate(use.value, declared)
      report(use, `No secret "${use.value}" is declared.${near === undefined ? '' : ` Did you mean "${near}"?`}`, {
        fix: near === undefined ? `Add \`secrets: {${use.value}: {fromEnv: …}}\`.` : `Write ${near}.`,
        meant: near,
      })
    }
  },
}
