import { isInternal } from '../../text/hosts.ts'
import type { LintRule } from '../../facts/rule.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export const mcpUrlInternal: LintRule = {
  severity: 'warning',
  law: 'The URL of an MCP server is not in a private network or a metadata service.',
  fix: 'Use a public host name, or allow the host in `network.allowed_hosts`.',
  reason: 'The server could reach services that are not meant for agents.',
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.mcp_servers.*.url')) {
      const host = parseUrl(url.value)?.hostname
      if (host !== undefined && isInternal(host)) report(url, `${host} is an address inside a network.`)
    }
  },
}
