import { CONTEXT_RULE, readContextRule } from '../../facts/agents/context-rule.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsContext: LintRule = {
  severity: 'error',
  essential: true,
  law: '`svc/context` is a mapping of `keep`, `summarise` and `budget`.',
  fix: 'Write "{keep: 20, summarise: true, budget: 60%}".',
  reason: 'A long conversation would be shortened otherwise than its author meant, or not at all.',
  kinds: ['Agent'],
  check(document, report) {
    for (const annotation of document.allTexts('metadata.annotations.*')) {
      if (annotation.key !== CONTEXT_RULE) continue
      const read = readContextRule(annotation.value)
      if ('problem' in read) report(annotation, read.problem)
    }
  },
}
