import { isLoopback } from '../../../base/net/loopback.ts'
import { segmentsOf } from '../../../base/json/pointer.ts'
import type { LintRule } from '../../facts/rule.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export const mcpNoAuth: LintRule = {
  severity: 'warning',
  law: 'An MCP server on another machine has authentication.',
  fix: 'Add `auth: {scheme: bearer, secret: …}`.',
  source: 'Authoring format, "MCP server entry": `auth`',
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.mcp_servers.*.url')) {
      const entry = segmentsOf(url.pointer).slice(0, 3).join('.')
      const parsed = parseUrl(url.value)
      if (parsed?.protocol !== 'https:' || !isElsewhere(parsed.hostname) || document.at(`${entry}.auth`).length > 0)
        continue
      report(url, `${parsed.hostname} is called without authentication.`)
    }
  },
}

/** Names below `.invalid` are no machine's: the project file says what runs in place of such a server. Source: RFC 2606. */
const isElsewhere = (host: string): boolean => !isLoopback(host) && !host.endsWith('.invalid')
