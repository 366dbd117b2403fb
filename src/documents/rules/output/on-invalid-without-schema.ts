import { removalWithParent } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const outputOnInvalidWithoutSchema: LintRule = {
  severity: 'warning',
  law: '`on_invalid` needs a schema: it sets what happens when validation fails.',
  fix: 'Add `schema`, or remove `on_invalid`.',
  source: 'Authoring format, "output": `on_invalid`',
  kinds: ['Agent'],
  check(document, report) {
    if (document.at('output.schema').length > 0) return
    for (const { pointer } of document.at('output.on_invalid'))
      report(pointer, '`on_invalid` is never used: there is no schema to validate against.', {
        fix: { description: 'Remove it, or add the schema.', edits: removalWithParent(document, pointer) },
      })
  },
}
