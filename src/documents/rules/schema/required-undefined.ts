import { isJsonObject } from '../../../base/json/json.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'
import type { LintRule } from '../../facts/rule.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const schemaRequiredUndefined: LintRule = {
  severity: 'error',
  law: 'A closed object declares every property that it requires.',
  fix: 'Declare the property, or correct its name.',
  source: 'JSON Schema 2020-12, `required` and `additionalProperties`',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(['required'], (schema, report) => {
    for (const use of schema.uses('required')) {
      const { value: names, holder } = use
      if (!Array.isArray(names) || holder['additionalProperties'] !== false) continue
      if (Object.hasOwn(holder, 'patternProperties')) continue
      const properties = isJsonObject(holder['properties']) ? holder['properties'] : {}
      for (const [index, name] of names.entries()) {
        if (typeof name !== 'string' || Object.hasOwn(properties, name)) continue
        const declared = Object.keys(properties)
        const near = nearestCandidate(name, declared)
        const pointer = `${use.pointer}/${index}`
        const fix = near === undefined ? undefined : proposeScalarFix(schema.placeOf(pointer), near)
        report(
          pointer,
          `"${name}" is required, but the object has no such property and allows no other.${didYouMean(near)}`,
          { why: 'No value fits this schema.', ...(fix && { fix, meant: near }) },
        )
      }
    }
  }),
}
