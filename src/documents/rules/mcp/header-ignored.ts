import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpHeaderIgnored: LintRule = {
  severity: 'warning',
  law: '`header` is set only with `scheme: header`.',
  fix: 'Remove `header`, or write `scheme: header`.',
  source: 'Authoring format, "MCP server entry": `bearer` sends an `Authorization` header',
  kinds: ['Agent'],
  check(document, report) {
    for (const header of document.at('spec.mcp_servers.*.auth.header')) {
      const auth = header.pointer.slice(0, header.pointer.lastIndexOf('/'))
      const scheme = document.at(`${auth.slice(1).replaceAll('/', '.')}.scheme`)[0]?.value
      if (scheme === 'bearer')
        report(header, 'With `scheme: bearer` this header is never sent.', {
          fix: { description: 'Remove it.', edits: removalEdits(document, header.pointer) },
        })
    }
  },
}
