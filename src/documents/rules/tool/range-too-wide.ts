import { toolsOf } from '../../facts/bindings.ts'
import { fitsRange, isRange } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const rangeTooWide: LintRule = {
  name: 'tool/range-too-wide',
  severity: 'warning',
  law: 'The range of a tool leaves the next major version out.',
  fix: 'Narrow it: `@^1.3`.',
  source: 'Authoring format, "Versioning", 3: a tool reference pins a version, or a constraint',
  kinds: ['Agent'],
  check(document, report) {
    for (const { ref, pointer } of toolsOf(document)) {
      if (ref?.range === undefined || !isRange(ref.range) || !fitsRange(FAR, ref.range)) continue
      report(`${pointer}/ref`, `"${ref.range}" takes every version there will ever be.`, {
        why: 'A breaking version of the tool would be chosen without a word.',
      })
    }
  },
}

/** No range that knows what it wants allows this one. */
const FAR = '99999.0.0'
