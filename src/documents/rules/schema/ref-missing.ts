import { missingFile } from '../../facts/missing.ts'
import type { LintRule } from '../../facts/rule.ts'
import { schemasOf } from '../../schemas/schemas.ts'

export const schemaRefMissing: LintRule = {
  severity: 'error',
  essential: true,
  law: 'Each schema file that a document references exists and can be read.',
  fix: 'Correct the path, or add the file.',
  source: 'Authoring format, "Schema spec"',
  crossFile: true,
  kinds: ['Agent', 'Tool'],
  check(document, report, { workspace }) {
    for (const { at, ref, unreadable } of schemasOf(workspace, document)) {
      if (ref === undefined || ref.written === '') continue
      const fault = missingFile(ref.resolution, { ...at, value: ref.written })
      if (fault !== undefined) report(at, fault.message, fault.details)
      else if (unreadable !== undefined)
        report(at, `"${ref.written}" is no JSON Schema: ${unreadable.charAt(0).toLowerCase()}${unreadable.slice(1)}`)
    }
  },
}
