import { isJsonObject } from '../../../base/json.ts'
import { textAt, toolsOf } from '../../facts/bindings.ts'
import { lockOf } from '../../facts/lock-file.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpNotPinned: LintRule = {
  name: 'mcp/not-pinned',
  severity: 'warning',
  strictOnly: true,
  law: 'The lock pins name, description and schema of each tool of an MCP server (profile `strict`).',
  fix: 'Run `svc compile --mcp`.',
  source: 'Bundles, section 3: `svc compile --mcp`',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  mcp_servers: [{name: web, url: "https://mcp.example/"}]\n  tools: [{ref: web.search@^1, side_effect_class: read_only, mcp: {server: web}}]\n  limits: {max_loop_iterations: 5}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  mcp_servers: [{name: web, url: "https://mcp.example/"}]\n  tools: [{ref: web.search@^1, side_effect_class: read_only, mcp: {server: web}}]\n  limits: {max_loop_iterations: 5}\n',
    'svc.lock':
      '{"lockfile_version": 1, "members": [], "mcp": [{"agent": "acme.desk", "server": "web", "tool": "search", "integrity": "sha256:0"}]}',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const server = isJsonObject(use.value['mcp']) ? textAt(use.value['mcp'], 'server') : undefined
      if (server === undefined) continue
      const pins = lockOf(workspace, document)?.mcp ?? []
      const pinned = pins.some((each) => each.agent === document.identity?.id && each.server === server)
      if (!pinned) report(`${use.pointer}/mcp`, `No lock pins what "${server}" says about this tool.`)
    }
  },
}
