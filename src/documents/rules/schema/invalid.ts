import type { LintRule } from '../../facts/rule.ts'
import { schemaFaults } from '../../schemas/schema-faults.ts'
import { schemasOf } from '../../schemas/schemas.ts'

export const schemaInvalid: LintRule = {
  severity: 'error',
  law: 'A schema is a valid JSON Schema of draft 2020-12.',
  fix: 'Correct the keyword.',
  source: 'Authoring format, "Schema spec"',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check(document, report, { workspace }) {
    for (const { schema, at } of schemasOf(workspace, document)) {
      if (schema === undefined) continue
      for (const { pointer, message } of schemaFaults(schema)) {
        const place = schema.placeOf(pointer)
        report(
          place,
          message,
          place.path === document.path ? {} : { related: [{ path: at.path, range: at.range, message: 'named here' }] },
        )
      }
    }
  },
}
