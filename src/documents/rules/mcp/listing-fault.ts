import { mcpUsesOf } from '../../facts/agents/mcp-uses.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpListingFault: LintRule<'mcp'> = {
  severity: 'warning',
  law: 'What an MCP server lists can be read, and arguments can be checked against it (`--mcp-live`).',
  fix: 'Tell the owner of the server, or give the tool a Tool document with a schema of your own.',
  reason:
    'A tool that cannot be read is not offered, and arguments that are not checked reach its server as the model wrote them.',
  crossFile: true,
  kinds: ['Agent'],
  needs: ['mcp'],
  check(document, report, { workspace, mcp }) {
    const listings = mcp.get(document)
    if (listings === undefined) return
    const uses = mcpUsesOf(workspace, document)
    for (const name of document.texts('spec.mcp_servers.*.name')) {
      const listing = listings.get(name.value)
      for (const { tool, problem } of listing !== undefined && 'tools' in listing ? listing.faults : []) {
        const bound = uses.find((each) => each.server === name.value && each.tool === tool)
        report(bound ? `${bound.use.pointer}/mcp` : name, `MCP server "${name.value}": ${problem}`)
      }
    }
  },
}
