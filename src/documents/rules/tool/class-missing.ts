import { effectiveClass, toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolClassMissing: LintRule = {
  severity: 'warning',
  strict: 'error',
  law: 'The binding or the Tool document declares a side-effect class.',
  fix: 'Add `side_effect_class` to the Tool document or the binding.',
  source: 'Authoring format, "Side-effect class values"',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      if (use.builtin || use.ref === undefined || effectiveClass(workspace, use) !== undefined) continue
      // A published Tool may declare it; `tool/unresolved` reports a reference to no Tool.
      const tool = toolDocument(workspace, use)
      if (tool === undefined && use.value['mcp'] === undefined) continue
      report(`${use.pointer}/ref`, `No side-effect class is declared for ${use.ref.id}.`, {
        why: 'An undeclared class needs no approval, and its calls are never repeated after a crash.',
        fix: 'Add `side_effect_class` to the Tool document or the binding.',
        ...(tool && {
          related: [{ path: tool.path, range: tool.placeOf('/metadata/name').range, message: 'its Tool document' }],
        }),
      })
    }
  },
}
