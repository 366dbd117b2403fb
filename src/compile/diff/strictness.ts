/** Which of two decisions lets through more. Source: policies, section 4. */
import type { PolicyDecision } from '../../policy/condition/decision.ts'

const RANK: Readonly<Record<PolicyDecision['decision'], number>> = {
  allow: 0,
  require_approval: 1,
  escalate: 2,
  deny: 3,
}

/** True when `after` is looser than `before` in any respect: a decision may be looser in one and stricter in another. */
export function isLooser(before: PolicyDecision, after: PolicyDecision): boolean {
  if (RANK[after.decision] < RANK[before.decision]) return true
  return before.obligations !== undefined && after.obligations !== undefined
    ? asksLess(before.obligations, after.obligations)
    : false
}

type AskedObligations = NonNullable<PolicyDecision['obligations']>

/** From loose to strict. */
const ON_REJECT = ['return_to_agent', 'fail']
const ON_MODIFY = ['accept', 'revalidate', 'reject']
const ON_TIMEOUT = ['allow', 'escalate', 'deny']

function asksLess(before: AskedObligations, after: AskedObligations): boolean {
  const roles = rolesOf(after)
  return (
    after.approvals_required < before.approvals_required ||
    (before.comprehension_required && !after.comprehension_required) ||
    (before.separation_of_duties === true && after.separation_of_duties !== true) ||
    ON_REJECT.indexOf(after.on_reject) < ON_REJECT.indexOf(before.on_reject) ||
    ON_MODIFY.indexOf(after.on_modify) < ON_MODIFY.indexOf(before.on_modify) ||
    rolesOf(before).some((role) => !roles.includes(role)) ||
    endsLooser(before.timeout, after.timeout)
  )
}

const rolesOf = ({ approver_role: role }: AskedObligations): readonly string[] => role?.split(' and ') ?? []

function endsLooser(before: AskedObligations['timeout'], after: AskedObligations['timeout']): boolean {
  if (!after) return before !== undefined && before.default !== 'allow'
  if (!before) return after.default === 'allow'
  if (after.default !== before.default) return ON_TIMEOUT.indexOf(after.default) < ON_TIMEOUT.indexOf(before.default)
  // Where silence approves, less time for a person is looser; elsewhere the shorter wait is the stricter one.
  return after.default === 'allow'
    ? after.after_minutes < before.after_minutes
    : after.after_minutes > before.after_minutes
}
