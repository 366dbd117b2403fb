import { isJsonObject } from '../../../base/json/json.ts'
import type { LintRule } from '../../facts/rule.ts'
import { schemasOf } from '../../schemas/schemas.ts'

export const schemaNotObject: LintRule = {
  severity: 'error',
  law: 'The arguments of a tool or sub-agent are an object.',
  fix: 'Make the root an object; put a list into one of its properties.',
  reason: 'Models send arguments by name.',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check(document, report, { workspace }) {
    for (const { at, schema } of schemasOf(workspace, document)) {
      if (!/input_schema|input-schema/.test(at.pointer.replace('~1', '/')) || !isJsonObject(schema?.value)) continue
      const { type } = schema.value
      if (typeof type === 'string' && type !== 'object')
        report(
          schema.spans.placeOf(`${schema.base}/type`),
          `Arguments must be an object, but this schema requires \`type: ${type}\`.`,
          { fix: 'Make it an object with one property.' },
        )
    }
  },
}
