import { digestOfTool, whyNotListed } from '../../../tools/mcp/listed-tool.ts'
import { mcpUsesOf } from '../../facts/agents/mcp-uses.ts'
import { lockOf } from '../../facts/lock/lock-file.ts'
import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'

export const mcpDescriptionChanged: LintRule<'mcp'> = {
  severity: 'error',
  law: 'The name, description and schema of an MCP tool match the lock (`--mcp-live`).',
  fix: 'Review the new listing of the server, then run `svc compile --mcp`.',
  reason: 'A server can change what a tool says and does after the review.',
  crossFile: true,
  kinds: ['Agent'],
  needs: ['mcp'],
  check(document, report, { workspace, mcp }) {
    const listings = mcp.get(document)
    if (listings === undefined) return
    const pins = lockOf(workspace, document)?.mcp ?? []
    const reported = new Set<string>()
    for (const { use, server, tool } of mcpUsesOf(workspace, document)) {
      const listing = listings.get(server)
      if (listing === undefined) continue
      if ('problem' in listing) {
        // Reported once per server, however many tools it has.
        if (!reported.has(server)) report(`${use.pointer}/mcp/server`, listing.problem)
        reported.add(server)
        continue
      }
      const now = listing.tools.get(tool)
      if (now === undefined) {
        const near = didYouMean(nearestCandidate(tool, listing.tools.keys()))
        report(`${use.pointer}/mcp`, `${whyNotListed(listing, server, tool).error}${near}`)
        continue
      }
      const pin = pins.find(
        (each) => each['agent'] === document.identity?.id && each['server'] === server && each['tool'] === tool,
      )
      if (pin !== undefined && pin['integrity'] !== digestOfTool(now))
        report(`${use.pointer}/mcp`, `MCP server "${server}" lists "${tool}" otherwise than svc.lock pins.`, {
          why: 'The model follows this description, and nobody has reviewed it.',
          fix: 'Review the new listing of the server, then run `svc compile --mcp`.',
        })
    }
  },
}
