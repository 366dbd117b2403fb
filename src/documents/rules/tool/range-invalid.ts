import { isVersionRange, readLogicalRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolRangeInvalid: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A tool reference has a semver range after the `@`.',
  fix: 'Write a semver range such as ^1.3.',
  source: 'Authoring format, "Versioning", 3',
  kinds: ['Agent'],
  check(document, report) {
    for (const ref of document.texts('spec.tools.*.ref')) {
      const range = readLogicalRef(ref.value)?.range
      if (range !== undefined && !isVersionRange(range))
        report(ref, `"${range}" is not a semver range.`, { fix: 'Write one such as ^1.2 or 1.2.0.' })
    }
  },
}
