import type { LintRule } from '../../facts/rule.ts'
import { schemasOf } from '../../schemas/schemas.ts'

export const schemaRemoteRef: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A schema references only itself or files of the bundle, never the network.',
  fix: 'Copy the schema into the bundle and reference the file.',
  reason: 'A remote schema can change after the bundle was published.',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check(document, report, { workspace }) {
    for (const { schema } of schemasOf(workspace, document)) {
      if (schema === undefined) continue
      for (const { pointer, value } of schema.uses('$ref'))
        if (typeof value === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(value))
          report(schema.placeOf(pointer), `"${value}" is not part of the bundle.`, {
            fix: 'Copy the schema into the bundle and refer to the file.',
          })
    }
  },
}
