import { effectiveClass, toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const mcpNoContract: LintRule = {
  severity: 'warning',
  law: 'A binding to an MCP server has an input schema or a Tool document.',
  fix: 'Add `input_schema` to the binding, or a Tool document.',
  reason: 'Without one, the server can change what a call accepts, and nobody reviews it.',
  source: 'Authoring format, "Tool binding": `mcp`, `input_schema`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace, published }) {
    for (const use of toolsOf(document)) {
      if (use.value['mcp'] === undefined || use.value['input_schema'] !== undefined || use.ref === undefined) continue
      if (toolDocument(workspace, use) !== undefined || published.versions('Tool', use.ref.id).length > 0) continue
      const irreversible = effectiveClass(workspace, use) === 'irreversible_action'
      report(`${use.pointer}/ref`, `What ${use.ref.id} accepts is decided by the server alone.`, {
        why: 'The server may change it at any time, and policies cannot rely on its arguments.',
        ...(irreversible && { severity: 'error' }),
      })
    }
  },
}
