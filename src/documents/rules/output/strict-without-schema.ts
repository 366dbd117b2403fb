import type { LintRule } from '../../facts/rule.ts'

export const outputStrictWithoutSchema: LintRule = {
  severity: 'error',
  law: 'A strict output has a schema.',
  fix: 'Add `schema`, or remove `strict`.',
  source: 'Authoring format, "output": `strict`',
  kinds: ['Agent'],
  check(document, report) {
    if (document.at('output.schema').length > 0) return
    for (const strict of document.at('output.strict'))
      if (strict.value === true)
        report(strict, '`strict: true` needs a `schema`.', { fix: 'Add the schema, or remove `strict`.' })
  },
}
