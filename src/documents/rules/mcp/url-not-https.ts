import { isLoopback } from '../../../base/net/loopback.ts'
import type { LintRule } from '../../facts/rule.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export const mcpUrlNotHttps: LintRule = {
  severity: 'error',
  law: 'An MCP server uses https; http is for loopback hosts only.',
  fix: 'Write an https address.',
  source: 'Authoring format, "MCP server entry": `url` is an HTTPS endpoint',
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.mcp_servers.*.url')) {
      const parsed = parseUrl(url.value)
      if (parsed?.protocol === 'https:') continue
      const secure = url.value.replace(/^http:/i, 'https:')
      if (parsed?.protocol === 'http:' && isLoopback(parsed.hostname))
        report(url, `"${url.value}" is not https; that is fine on this machine only.`, { severity: 'info' })
      else if (parsed?.protocol === 'http:')
        report(url, `"${url.value}" is not https.`, {
          fix: proposeScalarFix(url, secure, `Write "${secure}".`),
        })
      else report(url, `"${url.value}" is not an https URL.`)
    }
  },
}
