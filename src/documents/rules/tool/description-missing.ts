import { descriptionOf, textMember, toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolDescriptionMissing: LintRule = {
  severity: 'warning',
  law: 'A tool has a description for the model.',
  fix: 'Add one sentence on what it does and changes.',
  source: 'Authoring format, "Tool binding" and "Tool document": `description`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const tool = toolDocument(workspace, use)
      // An MCP server describes its own tools, and a Tool that is not in the workspace may be published.
      if (tool === undefined || use.builtin || use.value['mcp'] !== undefined) continue
      if ((textMember(use.value, 'description') ?? descriptionOf(tool) ?? '').trim() !== '') continue
      report(`${use.pointer}/ref`, `The model gets no description of ${tool.identity.id} does.`, {
        related: [{ path: tool.path, range: tool.placeOf('/metadata/name').range, message: 'its Tool document' }],
      })
    }
  },
}
