import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpHeaderIgnored: LintRule = {
  severity: 'warning',
  law: 'A field of `auth` is set only with the `scheme` that reads it: `header` with `scheme: header`.',
  fix: 'Remove the field, or write its scheme.',
  source: 'Authoring format, "MCP server entry": `bearer` sends an `Authorization` header',
  kinds: ['Agent'],
  check(document, report) {
    for (const [field, readers] of Object.entries(READERS))
      for (const found of document.at(`spec.mcp_servers.*.auth.${field}`)) {
        const auth = found.pointer.slice(0, found.pointer.lastIndexOf('/'))
        const scheme = document.at(`${auth.slice(1).replaceAll('/', '.')}.scheme`)[0]?.value
        if (typeof scheme !== 'string' || readers.has(scheme) || !SCHEMES.has(scheme)) continue
        const what = field === 'header' ? 'this header is never sent' : `\`${field}\` is not read`
        report(found, `With \`scheme: ${scheme}\` ${what}.`, {
          fix: { description: 'Remove it.', edits: removalEdits(document, found.pointer) },
        })
      }
  },
}

const TOKENS: ReadonlySet<string> = new Set(['client_credentials', 'authorization_code'])

/** The schemes that read each field. */
const READERS: Readonly<Record<string, ReadonlySet<string>>> = {
  header: new Set(['header']),
  client_id: TOKENS,
  issuer: TOKENS,
  scope: TOKENS,
}

/** Another one is an error of its own. */
const SCHEMES: ReadonlySet<unknown> = new Set(['bearer', 'header', ...TOKENS])
