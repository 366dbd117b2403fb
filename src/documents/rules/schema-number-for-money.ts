import { isJsonObject } from '../../base/json.ts'
import { pointerTo } from '../pointer.ts'
import { toolInput } from '../inputs.ts'
import { keywords } from '../schema-faults.ts'
import type { Rule } from '../rule.ts'

export const schemaNumberForMoney: Rule = {
  name: 'schema/number-for-money',
  severity: 'info',
  law: 'Money is a whole number of the smallest unit, or says its step.',
  fix: 'Use an integer of cents, or add `multipleOf`.',
  source: 'Lint rules, "schema"',
  bad: {
    'tool.yaml': 'kind: Tool\nspec:\n  input_schema: {inline: {type: object, properties: {amount: {type: number}}}}\n',
  },
  good: {
    'tool.yaml':
      'kind: Tool\nspec:\n  input_schema: {inline: {type: object, properties: {amount_cents: {type: integer}}}}\n',
  },
  crossFile: true,
  kinds: ['Tool'],
  needs: ['spec.input_schema'],
  check(document, report, { workspace }) {
    const input = toolInput(workspace, document)
    if (input === undefined) return
    for (const { pointer, value: properties } of keywords(input.value, 'properties'))
      for (const [name, property] of isJsonObject(properties) ? Object.entries(properties) : []) {
        if (!MONEY.test(name) || !isJsonObject(property) || property['type'] !== 'number') continue
        const at = input.base + pointerTo(pointer, name)
        const place = input.spans.placeOf(at)
        if (!('multipleOf' in property))
          report(
            { ...place, range: input.spans.keySpanOf(at) ?? place.range },
            `"${name}" may have any fraction: 0.1 + 0.2 is not 0.3.`,
          )
      }
  },
}

const MONEY = /^(?:.*_)?(?:amount|price|total|fee|cost|balance|salary)$/i
