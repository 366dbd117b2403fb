import { removalWithParent } from '../../edit/removal.ts'
import { segmentsOf } from '../../../base/json/pointer.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpServerUnused: LintRule = {
  severity: 'warning',
  law: 'Each declared MCP server is used by a binding.',
  fix: 'Remove the server, or route a binding to it.',
  source: 'Authoring format, "MCP server entry": referenced by `tools[].mcp.server`',
  kinds: ['Agent'],
  check(document, report) {
    const used = new Set(document.texts('spec.tools.*.mcp.server').map(({ value }) => value))
    const declared = document.texts('spec.mcp_servers.*.name').map(({ value }) => value)
    // A binding with an unknown server may be a misspelling of this one.
    const isMissing = [...used].some((name) => !declared.includes(name))
    for (const server of document.texts('spec.mcp_servers.*.name')) {
      if (used.has(server.value)) continue
      const entry = `/${segmentsOf(server.pointer).slice(0, 3).join('/')}`
      report(server, `No binding is routed to the server "${server.value}".`, {
        fix: isMissing
          ? 'Route a binding to it, or remove it.'
          : { description: 'Remove it.', edits: removalWithParent(document, entry) },
        subject: [server.value],
      })
    }
  },
}
