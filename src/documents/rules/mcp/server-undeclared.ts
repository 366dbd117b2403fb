import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const mcpServerUndeclared: LintRule = {
  severity: 'error',
  essential: true,
  law: '`mcp.server` names an entry of `spec.mcp_servers`.',
  fix: 'Declare it under `mcp_servers`, or correct the name.',
  source: 'Authoring format, "Tool binding": `mcp`',
  kinds: ['Agent'],
  check(document, report) {
    const names = document.texts('spec.mcp_servers.*.name').map(({ value }) => value)
    for (const server of document.texts('spec.tools.*.mcp.server')) {
      if (names.includes(server.value)) continue
      const near = nearestCandidate(server.value, names)
      report(server, `No MCP server "${server.value}" is declared.${didYouMean(near)}`, {
        fix: near === undefined ? 'Add it to `spec.mcp_servers`.' : proposeScalarFix(server, near),
        meant: near,
      })
    }
  },
}
