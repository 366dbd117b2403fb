import { isJsonObject } from '../../../base/json/json.ts'
import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

const PLACES = [
  'spec.instructions',
  'output.schema',
  'spec.tools.*.input_schema',
  'spec.agents.*.input_schema',
  'spec.input_schema',
  'spec.output_schema',
]

export const docVersionWithoutRef: LintRule = {
  severity: 'warning',
  law: '`version` of instructions and schemas needs `ref`: it names a revision of that file.',
  fix: 'Remove `version`, or name a file with `ref`.',
  source: 'Authoring format, "Versioning", 4',
  check(document, report) {
    for (const { value, pointer } of PLACES.flatMap((place) => document.at(place))) {
      if (!isJsonObject(value) || value['version'] === undefined || value['ref'] !== undefined) continue
      report(`${pointer}/version`, '`version` has no effect without `ref`: it names a revision of that file.', {
        fix: { description: 'Remove it.', edits: removalEdits(document, `${pointer}/version`) },
      })
    }
  },
}
