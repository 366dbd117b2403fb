/** Which of two decisions is looser. Source: docs/design/prover.md#comparing-two-versions */
import type { PolicyDecision } from '../policy/condition/decision.ts'
import { splitRoles } from '../spec/people/approver-role.ts'
import { isProofAtLeast } from '../spec/people/decision-proof.ts'

const RANK: Readonly<Record<PolicyDecision['decision'], number>> = {
  allow: 0,
  require_approval: 1,
  escalate: 2,
  deny: 3,
}

/** True if `after` is looser than `before` in any respect. A decision may be looser in one respect and stricter in another. */
export function isLooser(before: PolicyDecision, after: PolicyDecision): boolean {
  if (RANK[after.decision] < RANK[before.decision]) return true
  return before.obligations !== undefined && after.obligations !== undefined
    ? hasFewerObligations(before.obligations, after.obligations)
    : false
}

type ComparedObligations = NonNullable<PolicyDecision['obligations']>

/** From loose to strict. */
const ON_REJECT = ['return_to_agent', 'fail']
const ON_MODIFY = ['accept', 'revalidate', 'reject']
const ON_TIMEOUT = ['allow', 'escalate', 'deny']

function hasFewerObligations(before: ComparedObligations, after: ComparedObligations): boolean {
  const roles = splitRoles(after.approver_role)
  return (
    after.approvals_required < before.approvals_required ||
    (before.comprehension_required && !after.comprehension_required) ||
    (before.separation_of_duties === true && after.separation_of_duties !== true) ||
    !isProofAtLeast(after.approval_proof ?? 'none', before.approval_proof ?? 'none') ||
    (before.bulk !== true && after.bulk === true) ||
    ON_REJECT.indexOf(after.on_reject) < ON_REJECT.indexOf(before.on_reject) ||
    ON_MODIFY.indexOf(after.on_modify) < ON_MODIFY.indexOf(before.on_modify) ||
    splitRoles(before.approver_role).some((role) => !roles.includes(role)) ||
    hasLooserTimeout(before.timeout, after.timeout)
  )
}

function hasLooserTimeout(before: ComparedObligations['timeout'], after: ComparedObligations['timeout']): boolean {
  if (!after) return before !== undefined && before.default !== 'allow'
  if (!before) return after.default === 'allow'
  if (after.default !== before.default) return ON_TIMEOUT.indexOf(after.default) < ON_TIMEOUT.indexOf(before.default)
  // If a timeout approves, less time for a person is looser; otherwise a shorter wait is stricter.
  return after.default === 'allow'
    ? after.after_minutes < before.after_minutes
    : after.after_minutes > before.after_minutes
}
