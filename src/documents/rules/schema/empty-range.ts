import type { JsonObject } from '../../../base/json/json.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import type { LintRule } from '../../facts/rule.ts'

/** Pairs of lower and upper bounds of the same value; true where equal bounds leave no value. */
const PAIRS: readonly (readonly [lower: string, upper: string, excluded: boolean])[] = [
  ['minimum', 'maximum', false],
  ['minimum', 'exclusiveMaximum', true],
  ['exclusiveMinimum', 'maximum', true],
  ['exclusiveMinimum', 'exclusiveMaximum', true],
  ['minLength', 'maxLength', false],
  ['minItems', 'maxItems', false],
  ['minProperties', 'maxProperties', false],
  ['minContains', 'maxContains', false],
]

const numberAt = (holder: JsonObject, key: string): number | undefined => {
  const value = holder[key]
  return typeof value === 'number' ? value : undefined
}

export const schemaEmptyRange: LintRule = {
  severity: 'error',
  law: 'The lower bound of a schema is not above its upper bound.',
  fix: 'Swap the bounds, or correct one of them.',
  source: 'JSON Schema 2020-12, section 6: no value fits',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(
    PAIRS.map(([, upper]) => upper),
    (schema, report) => {
      for (const [lower, upper, excluded] of PAIRS)
        for (const { pointer, value: most, holder } of schema.uses(upper)) {
          const least = numberAt(holder, lower)
          if (typeof most !== 'number' || least === undefined) continue
          if (least > most || (excluded && least === most))
            report(pointer, `No value fits: \`${lower}\` is ${least}, and \`${upper}\` is ${most}.`)
        }
    },
  ),
}
