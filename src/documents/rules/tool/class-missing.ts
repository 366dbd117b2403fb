import { effectiveClass, toolDocument, toolsOf } from '../../facts/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const classMissing: LintRule = {
  name: 'tool/class-missing',
  severity: 'warning',
  strict: 'error',
  law: 'The binding or the Tool document says what a call does to the world.',
  fix: 'Add `side_effect_class` to the Tool document or the binding.',
  source: 'Authoring format, "Side-effect class values"',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      if (use.builtin || use.ref === undefined || effectiveClass(workspace, use) !== undefined) continue
      // A published Tool may say it; a reference to nothing is `tool/unresolved`.
      const tool = toolDocument(workspace, use)
      if (tool === undefined && use.value['mcp'] === undefined) continue
      report(`${use.pointer}/ref`, `Nothing says the side-effect class of ${use.ref.id}.`, {
        why: 'An undeclared class needs no approval, and its calls are never repeated after a crash.',
        fix: 'Add `side_effect_class` to the Tool document or the binding.',
        ...(tool && {
          related: [{ path: tool.path, range: tool.placeOf('/metadata/name').range, message: 'its Tool document' }],
        }),
      })
    }
  },
}
