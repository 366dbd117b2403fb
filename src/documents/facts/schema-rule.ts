import type { FindingText } from '../text/diagnostic.ts'
import type { LintRule } from './rule.ts'
import { schemasOf, type SchemaText } from '../schemas/schemas.ts'

/** Says something about a place of the schema. @param key true to show the key of the property, not its value */
type Say = (pointer: string, message: string, saying?: FindingText, key?: boolean) => void

/**
 * A check of every schema that a document names or holds, told in the schema's own file.
 * @param concerned keywords, of which a schema has one at some depth where there is anything to look at
 */
export const schemaRule =
  (concerned: readonly string[], look: (schema: SchemaText, say: Say) => void): NonNullable<LintRule['check']> =>
  (document, report, { workspace }) => {
    for (const { schema, at } of schemasOf(workspace, document)) {
      if (schema === undefined || !usesAny(schema, concerned)) continue
      look(schema, (pointer, message, saying = {}, key = false) => {
        const whole = schema.base + pointer
        const place = schema.spans.placeOf(whole)
        const elsewhere = place.path !== document.path
        report(key ? { ...place, range: schema.spans.keySpanOf(whole) ?? place.range } : place, message, {
          ...saying,
          ...(elsewhere && { related: [{ path: at.path, range: at.range, message: 'named here' }] }),
        })
      })
    }
  }

function usesAny(schema: SchemaText, keywords: readonly string[]): boolean {
  for (let at = 0; at < keywords.length; at++) if (schema.uses(keywords[at]!).length > 0) return true
  return false
}
