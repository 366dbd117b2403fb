import { mappingIn } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyNoDecision: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A policy has a decision.',
  fix: 'Add `decision`.',
  reason: 'A policy without one cannot be published.',
  kinds: ['Policy'],
  check(document, report) {
    if (mappingIn(document, 'spec')['decision'] !== undefined) return
    report('/spec', 'The policy decides nothing: `spec.decision` is missing.', {
      fix: 'Add `decision: {type: deny}`, or what it should decide.',
    })
  },
}
