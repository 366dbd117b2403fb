import type { FindingText, LintSeverity } from '../text/diagnostic.ts'
import type { LintRule } from './rule.ts'
import { schemasOf, type SchemaText } from '../schemas/schemas.ts'

/** Reports a fault in the schema. @param key true to underline the key of the property, not its value */
type ReportSchemaFault = (
  pointer: string,
  message: string,
  details?: FindingText & { readonly severity?: LintSeverity },
  key?: boolean,
) => void

/**
 * A check of every schema that a document references or contains; faults are reported in the file of the schema.
 * @param keywords schemas without any of these, at any depth, are skipped; `all` skips none
 */
export const schemaRule =
  (
    keywords: readonly string[] | 'all',
    check: (schema: SchemaText, report: ReportSchemaFault) => void,
  ): NonNullable<LintRule['check']> =>
  (document, report, { workspace }) => {
    for (const { schema, at } of schemasOf(workspace, document)) {
      if (schema === undefined) continue
      if (keywords !== 'all' && !keywords.some((keyword) => schema.uses(keyword).length > 0)) continue
      check(schema, (pointer, message, details = {}, key = false) => {
        const place = key ? schema.keyPlaceOf(pointer) : schema.placeOf(pointer)
        const elsewhere = place.path !== document.path
        report(place, message, {
          ...details,
          ...(elsewhere && { related: [{ path: at.path, range: at.range, message: 'named here' }] }),
        })
      })
    }
  }
