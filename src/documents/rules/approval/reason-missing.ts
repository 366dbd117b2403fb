import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalReasonMissing: LintRule = {
  severity: 'info',
  law: 'A policy that requires an approval gives a reason.',
  fix: 'Add `decision.reason`.',
  source: 'Authoring format, "decision": `reason` is stored in the approval payload',
  kinds: ['Policy'],
  check(document, report) {
    const { type, reason } = decisionOf(document)
    if (type !== 'require_approval' && type !== 'escalate') return
    if (typeof reason !== 'string' || reason.trim() === '')
      report('/spec/decision/type', 'The approver sees no reason for the request.')
  },
}
