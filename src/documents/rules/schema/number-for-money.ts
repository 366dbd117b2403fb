import { isJsonObject } from '../../../base/json/json.ts'
import { pointerTo } from '../../../base/json/pointer.ts'
import { toolInput } from '../../facts/agents/inputs.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaNumberForMoney: LintRule = {
  severity: 'info',
  law: 'Amounts of money are integers in the smallest unit, or set `multipleOf`.',
  fix: 'Use an integer number of cents, or add `multipleOf`.',
  reason: 'Floating-point numbers cannot represent every amount.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    const input = toolInput(workspace, document)
    if (input === undefined) return
    for (const use of input.uses('properties')) {
      const properties = isJsonObject(use.value) ? use.value : {}
      for (const name of Object.keys(properties)) {
        const property = properties[name]
        if (!isJsonObject(property) || property['type'] !== 'number' || !MONEY.test(name)) continue
        if ('multipleOf' in property) continue
        const at = input.base + pointerTo(use.pointer, name)
        const place = input.spans.placeOf(at)
        report(
          { ...place, range: input.spans.keySpanOf(at) ?? place.range },
          `"${name}" is a floating-point number: 0.1 + 0.2 is not 0.3.`,
        )
      }
    }
  },
}

const MONEY = /^(?:.*_)?(?:amount|price|total|fee|cost|balance|salary)$/i
