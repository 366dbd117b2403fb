import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalStarterDecides: LintRule = {
  severity: 'warning',
  law: 'A policy that asks one person says whether that may be the one who started the run.',
  fix: 'Add `svc/separation_of_duties: true`, name a role with `svc/approver_role`, or allow it with `svc/separation_of_duties: false`.',
  reason: 'Approval protects only when a second person gives it.',
  strictOnly: true,
  kinds: ['Policy'],
  check(document, report) {
    const { type, approvals_required: count } = decisionOf(document)
    const says = document
      .at('spec.decision.runtime.*')
      .some(({ key }) => key === 'svc/separation_of_duties' || key === 'svc/approver_role')
    // A quorum counts people who have proved who they are, so the starter is one of them at most.
    const isQuorum = typeof count === 'number' && count > 1
    if (type === 'require_approval' && !isQuorum && !says)
      report('/spec/decision/type', 'Who starts a run may approve this call of it, and the policy does not say so.')
  },
}
