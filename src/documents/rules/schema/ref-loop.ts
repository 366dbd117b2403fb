import { isJsonObject } from '../../../base/json/json.ts'
import { fromJson } from '../../../base/json/typed-json.ts'
import type { SchemaSpec } from '../../../spec/document.ts'
import { measureSchema } from '../../../tools/check/schema-size.ts'
import type { Document } from '../../text/document.ts'
import { schemaByValue } from '../../facts/lock/published-form.ts'
import type { LintRule } from '../../facts/rule.ts'
import { schemasOf, type SchemaText, type SchemaUse } from '../../schemas/schemas.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const schemaRefLoop: LintRule = {
  severity: 'error',
  law: 'References in a schema end, and expand to a size that a run can handle.',
  fix: 'Replace the reference by the schema it points to.',
  reason: 'Every run would refuse the schema.',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check(document, report, { workspace }) {
    for (const use of schemasOf(workspace, document)) {
      const { schema, at } = use
      if (schema === undefined || schema.uses('$ref').length === 0) continue
      const size = measureSchema(byValue(workspace, document, use) ?? schema.value)
      if (!('problem' in size) || size.about !== 'reference') continue
      const place = schema.placeOf(placeOfRef(schema, size.refs))
      report(
        place,
        `No run can use this schema: ${size.problem}.`,
        place.path === document.path ? {} : { related: [{ path: at.path, range: at.range, message: 'named here' }] },
      )
    }
  },
}

function byValue(workspace: Workspace, document: Document, { at, ref }: SchemaUse): ReturnType<typeof schemaByValue> {
  const spec = isJsonObject(at.value) ? fromJson<SchemaSpec>(at.value) : ref && { ref: ref.written }
  return spec && schemaByValue(workspace, document, spec)
}

/** The outermost reference that is written in this text; references inlined from other files have other names. */
function placeOfRef(schema: SchemaText, refs: readonly string[]): string {
  const uses = schema.uses('$ref')
  const [first = uses[0]] = refs.flatMap((ref) => uses.find(({ value }) => value === ref) ?? [])
  return first?.pointer ?? ''
}
