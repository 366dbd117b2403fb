import { isJsonObject } from '../../../base/json/json.ts'
import { textMember, toolsOf } from '../../facts/agents/bindings.ts'
import { lockOf } from '../../facts/lock/lock-file.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpNotPinned: LintRule = {
  severity: 'warning',
  strictOnly: true,
  law: 'The lock pins the name, description and schema of each MCP tool (profile `strict`).',
  fix: 'Run `svc compile --mcp`.',
  reason: 'A server can change what a tool says and does after the review.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const server = isJsonObject(use.value['mcp']) ? textMember(use.value['mcp'], 'server') : undefined
      if (server === undefined) continue
      const pins = lockOf(workspace, document)?.mcp ?? []
      const pinned = pins.some((each) => each.agent === document.identity?.id && each.server === server)
      if (!pinned) report(`${use.pointer}/mcp`, `No lock pins what "${server}" says about this tool.`)
    }
  },
}
