import type { JsonObject, JsonValue } from '../../../base/json.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import { describeMisfit } from '../../schemas/schema-fit.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaDefaultInvalid: LintRule = {
  name: 'schema/default-invalid',
  severity: 'warning',
  law: 'A default and the examples of a schema fit the schema.',
  fix: 'Write a value that fits.',
  source: 'JSON Schema 2020-12, `default` and `examples`',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(['default', 'examples'], (schema, say) => {
    const look = (at: string, found: JsonValue, holder: JsonObject): void => {
      const why = describeMisfit(holder, found)
      if (why !== undefined) say(at, `${JSON.stringify(found)} does not fit: ${why}.`)
    }
    for (const each of schema.uses('default')) look(each.pointer, each.value, each.holder)
    for (const { pointer, value: list, holder } of schema.uses('examples'))
      for (const [index, each] of Array.isArray(list) ? list.entries() : []) look(`${pointer}/${index}`, each, holder)
  }),
}
