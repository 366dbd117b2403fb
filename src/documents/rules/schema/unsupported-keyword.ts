import { schemaRule } from '../../facts/schema-rule.ts'
import type { LintRule } from '../../facts/rule.ts'

/** Keywords about which validators and models disagree. */
export const DISPUTED_KEYWORDS: readonly string[] = [
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  'nullable',
  'discriminator',
]

export const schemaUnsupportedKeyword: LintRule = {
  severity: 'warning',
  law: 'A schema uses only keywords that every validator interprets the same way.',
  fix: 'Use `$ref`, `type` and `anyOf` instead.',
  source: 'Authoring format, "Schema spec": a JSON Schema',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(DISPUTED_KEYWORDS, (schema, report) => {
    for (const keyword of DISPUTED_KEYWORDS)
      for (const { pointer } of schema.uses(keyword))
        report(pointer, `Validators and models disagree about \`${keyword}\`.`)
  }),
}
