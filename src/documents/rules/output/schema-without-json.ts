import { replaceScalarFix } from '../../text/diagnostic.ts'
import { insertionEdits } from '../../edit/insertion.ts'
import type { LintRule } from '../../facts/rule.ts'

export const outputSchemaWithoutJson: LintRule = {
  severity: 'error',
  law: 'An output with a schema has the format `json`.',
  fix: 'Write `format: json`.',
  source: 'Authoring format, "output"',
  kinds: ['Agent'],
  check(document, report) {
    if (document.at('output.schema').length === 0) return
    const format = document.at('output.format')[0]
    if (format === undefined)
      report('/output/schema', 'The output has a schema, but its format is text.', {
        fix: { description: 'Add `format: json`.', edits: insertionEdits(document, '/output/format', 'json') },
      })
    else if (format.value === 'text')
      report(format, 'The output has a schema, but its format is text.', { fix: replaceScalarFix(format, 'json') })
  },
}
