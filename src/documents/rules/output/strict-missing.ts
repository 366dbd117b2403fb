import type { LintRule } from '../../facts/rule.ts'

export const outputStrictMissing: LintRule = {
  severity: 'info',
  strict: 'warning',
  law: 'An output with a schema is `strict`.',
  fix: 'Write `strict: true`.',
  source: 'Authoring format, "output": `strict`',
  kinds: ['Agent'],
  check(document, report) {
    if (document.at('output.format')[0]?.value !== 'json') return
    if (document.at('output.schema').length === 0 || document.at('output.strict')[0]?.value === true) return
    report('/output/schema', 'The output has a schema, but `strict` is not set.')
  },
}
