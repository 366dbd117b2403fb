import type { JsonObject, JsonValue } from '../../../base/json/json.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import { describeMisfit } from '../../../policy/prove/misfit.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaEnumInvalid: LintRule = {
  severity: 'error',
  law: 'A schema accepts a value of its own `enum` or `const`.',
  fix: 'Write values of the type, or correct the type.',
  reason: 'A listed value that another keyword refuses can never be given.',
  source: 'JSON Schema 2020-12, `enum` and `const`',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check: schemaRule(['enum', 'const'], (schema, report) => {
    const misfit = ({ enum: _enum, const: _const, ...others }: JsonObject, value: JsonValue): string | undefined =>
      describeMisfit(others, value, schema.value)
    for (const { pointer, value, holder } of schema.uses('const')) {
      const why = misfit(holder, value)
      if (why !== undefined) report(pointer, `No value fits: ${JSON.stringify(value)} is fixed, but ${why}.`)
    }
    for (const { pointer, value: list, holder } of schema.uses('enum')) {
      if (!Array.isArray(list)) continue
      const misfits = list.map((each) => misfit(holder, each))
      const isEmpty = misfits.every((why) => why !== undefined)
      for (const [index, why] of misfits.entries()) {
        if (why === undefined) continue
        const message = `${JSON.stringify(list[index])} can never be given: ${why}.`
        report(`${pointer}/${index}`, message, isEmpty ? {} : { severity: 'warning' })
        // One finding is enough where every value has the same fault.
        if (isEmpty) break
      }
    }
  }),
}
