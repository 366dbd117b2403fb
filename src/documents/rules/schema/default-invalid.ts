import type { JsonObject, JsonValue } from '../../../base/json/json.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import { describeMisfit } from '../../../policy/prove/misfit.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaDefaultInvalid: LintRule = {
  severity: 'warning',
  law: 'Defaults and examples in a schema match the schema.',
  fix: 'Write a value that fits.',
  source: 'JSON Schema 2020-12, `default` and `examples`',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(['default', 'examples'], (schema, report) => {
    const checkValue = (at: string, found: JsonValue, holder: JsonObject): void => {
      const why = describeMisfit(holder, found, schema.value)
      if (why !== undefined) report(at, `${JSON.stringify(found)} does not fit: ${why}.`)
    }
    for (const each of schema.uses('default')) checkValue(each.pointer, each.value, each.holder)
    for (const { pointer, value: list, holder } of schema.uses('examples'))
      for (const [index, each] of Array.isArray(list) ? list.entries() : [])
        checkValue(`${pointer}/${index}`, each, holder)
  }),
}
