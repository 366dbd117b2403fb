import { outageProblem } from '../../facts/outage.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsOutage: LintRule = {
  severity: 'error',
  essential: true,
  law: '`svc/on-outage` is `hold` or `fail`, and `svc/max-outage` a duration from 1s to 30d.',
  fix: 'Write "hold" or "fail", and a duration such as "6h".',
  reason: 'A run would be held, or fail, otherwise than its author meant.',
  kinds: ['Agent'],
  check(document, report) {
    for (const annotation of document.allTexts('metadata.annotations.*')) {
      const problem = outageProblem(annotation.key, annotation.value)
      if (problem !== undefined) report(annotation, problem)
    }
  },
}
