import { readWholeLimit, WHOLE_LIMITS, type WholeLimit } from '../../facts/whole-limits.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsWholeNumber: LintRule = {
  severity: 'error',
  essential: true,
  law: '`svc/max-tool-calls`, `svc/max-tokens-per-session` and `svc/max-runs-per-session` are whole numbers above 0.',
  fix: 'Write digits in quotes, such as "200000".',
  reason: 'A limit that cannot be read would limit nothing.',
  kinds: ['Agent'],
  check(document, report) {
    for (const annotation of document.allTexts('metadata.annotations.*')) {
      if (!Object.hasOwn(WHOLE_LIMITS, annotation.key)) continue
      const read = readWholeLimit(annotation.key as WholeLimit, annotation.value)
      if ('problem' in read) report(annotation, read.problem)
    }
  },
}
