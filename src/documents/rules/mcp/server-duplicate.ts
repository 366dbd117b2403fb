import type { FoundText } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpServerDuplicate: LintRule = {
  severity: 'error',
  law: 'MCP servers of an agent have distinct names.',
  fix: 'Rename one of the two.',
  source: 'Authoring format, "MCP server entry": `name`',
  kinds: ['Agent'],
  check(document, report) {
    const first = new Map<string, FoundText>()
    for (const name of document.texts('spec.mcp_servers.*.name')) {
      const before = first.get(name.value)
      if (before === undefined) first.set(name.value, name)
      else
        report(name, `An MCP server "${name.value}" is declared more than once.`, {
          fix: 'Rename one of them.',
          related: [{ path: before.path, range: before.range, message: 'first here' }],
        })
    }
  },
}
