/**
 * Compares what policies require of approvers now with what was required of those who approved.
 * Source: docs/design/approvals.md#what-is-approved
 */
import type { PolicyDecision } from '../../policy/condition/decision.ts'
import { splitRoles } from '../../spec/approver-role.ts'

/** Requirements that approvers met, or have to meet. */
export interface AskedOfApprovers {
  readonly approvals: number
  readonly role: string | undefined
  readonly separationOfDuties: boolean
  readonly comprehension: boolean
}

/** The first requirement of a decision beyond `asked`, worded to follow "needs"; undefined if there is none. */
export function findFurtherNeed({ obligations }: PolicyDecision, asked: AskedOfApprovers): string | undefined {
  if (!obligations) return undefined
  const given = splitRoles(asked.role)
  if (obligations.approvals_required > asked.approvals) return 'more approvals'
  if (splitRoles(obligations.approver_role).some((role) => !given.includes(role)))
    return `an approver with the role ${obligations.approver_role}`
  if (obligations.separation_of_duties && !asked.separationOfDuties) return 'an approver who did not start the run'
  if (obligations.comprehension_required && !asked.comprehension) return 'a confirmation that they were read'
  return undefined
}
