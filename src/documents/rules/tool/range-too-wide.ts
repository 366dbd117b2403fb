import { toolsOf } from '../../facts/agents/bindings.ts'
import { fitsRange, isVersionRange } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolRangeTooWide: LintRule = {
  severity: 'warning',
  law: 'The version range of a tool excludes the next major version.',
  fix: 'Use a range below the next major version: `@^1.3`.',
  source: 'Authoring format, "Versioning", 3: a tool reference pins a version, or a constraint',
  kinds: ['Agent'],
  check(document, report) {
    for (const { ref, pointer } of toolsOf(document)) {
      if (ref?.range === undefined || !isVersionRange(ref.range) || !fitsRange(FAR, ref.range)) continue
      report(`${pointer}/ref`, `"${ref.range}" accepts every future version.`, {
        why: 'A breaking version of the tool would be used without notice.',
      })
    }
  },
}

/** A version that no deliberate range includes. */
const FAR = '99999.0.0'
