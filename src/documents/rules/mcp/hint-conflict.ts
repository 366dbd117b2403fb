import { effectiveClass } from '../../facts/agents/bindings.ts'
import { mcpUsesOf } from '../../facts/agents/mcp-uses.ts'
import type { LintRule } from '../../facts/rule.ts'
import { type ListedTool } from '../../../tools/mcp/listed-tool.ts'

export const mcpHintConflict: LintRule<'mcp'> = {
  severity: 'warning',
  law: 'A tool that its MCP server marks as writing is not bound as `read_only` (`--mcp-live`).',
  fix: 'Correct the class of the binding.',
  reason: 'The side-effect class decides whether a call needs an approval and whether it is repeated.',
  crossFile: true,
  kinds: ['Agent'],
  needs: ['mcp'],
  check(document, report, { workspace, mcp }) {
    const listings = mcp.get(document)
    if (listings === undefined) return
    for (const { use, server, tool } of mcpUsesOf(workspace, document)) {
      const listing = listings.get(server)
      const now = listing !== undefined && 'tools' in listing ? listing.tools.get(tool) : undefined
      // A hint is a claim of the server: it may make a binding stricter, never more permissive.
      const says = now && describeHint(now)
      if (says === undefined || effectiveClass(workspace, use) !== 'read_only') continue
      report(
        use.value['side_effect_class'] === undefined ? `${use.pointer}/ref` : `${use.pointer}/side_effect_class`,
        `MCP server "${server}" calls "${tool}" ${says}; here it is read_only.`,
        { why: 'A read_only call needs no approval, and may be repeated.' },
      )
    }
  },
}

/** What a server claims of a tool that writes. */
function describeHint({ readOnly, destructive }: ListedTool): string | undefined {
  if (readOnly === true) return undefined
  if (destructive) return 'destructive'
  return readOnly === false ? 'a writing one' : undefined
}
