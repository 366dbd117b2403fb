import { isInternal, urlOf } from '../../text/hosts.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpUrlInternal: LintRule = {
  name: 'mcp/url-internal',
  severity: 'warning',
  law: 'An MCP server is no address of a private network or of a metadata service.',
  fix: 'Use a public host name, or allow the host in `network.allowed_hosts`.',
  source: 'Security, S15: addresses inside the network',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  mcp_servers: [{name: web, url: "https://169.254.169.254/", auth: {scheme: bearer, secret: k}}]\n  tools: [{ref: web.search@^1, side_effect_class: read_only, mcp: {server: web}}]\n  limits: {max_loop_iterations: 5}\nsecrets: {k: {fromEnv: K}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  mcp_servers: [{name: web, url: "https://mcp.example/", auth: {scheme: bearer, secret: k}}]\n  tools: [{ref: web.search@^1, side_effect_class: read_only, mcp: {server: web}}]\n  limits: {max_loop_iterations: 5}\nsecrets: {k: {fromEnv: K}}\n',
  },
  kinds: ['Agent'],
  check(document, report) {
    for (const url of document.texts('spec.mcp_servers.*.url')) {
      const host = urlOf(url.value)?.hostname
      if (host !== undefined && isInternal(host)) report(url, `${host} is an address inside a network.`)
    }
  },
}
