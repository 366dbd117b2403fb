import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpHeaderIgnored: LintRule = {
  severity: 'warning',
  law: 'A field of `auth` is set only with the `scheme` that reads it: `header` with `scheme: header`.',
  fix: 'Remove the field, or write its scheme.',
  source: 'Authoring format, "MCP server entry": `bearer` sends an `Authorization` header',
  kinds: ['Agent'],
  check(document, report) {
    for (const [field, reader] of Object.entries(READERS))
      for (const found of document.at(`spec.mcp_servers.*.auth.${field}`)) {
        const auth = found.pointer.slice(0, found.pointer.lastIndexOf('/'))
        const scheme = document.at(`${auth.slice(1).replaceAll('/', '.')}.scheme`)[0]?.value
        if (typeof scheme !== 'string' || scheme === reader || !SCHEMES.has(scheme)) continue
        const what = field === 'header' ? 'this header is never sent' : `\`${field}\` is not read`
        report(found, `With \`scheme: ${scheme}\` ${what}.`, {
          fix: { description: 'Remove it.', edits: removalEdits(document, found.pointer) },
        })
      }
  },
}

/** The scheme that reads each field. */
const READERS: Readonly<Record<string, string>> = {
  header: 'header',
  client_id: 'client_credentials',
  issuer: 'client_credentials',
  scope: 'client_credentials',
}

/** Another one is an error of its own. */
const SCHEMES: ReadonlySet<unknown> = new Set(['bearer', 'header', 'client_credentials'])
