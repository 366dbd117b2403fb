/** What policies ask of those who approve a call, and whether an approval gives as much. Source: policies, section 4. */
import type { PolicyDecision } from '../../policy/condition/decision.ts'
import { splitRoles } from '../../spec/approver-role.ts'

/** What was asked of those who approved, or would be. */
export interface AskedOfApprovers {
  readonly approvals: number
  readonly role: string | undefined
  readonly separationOfDuties: boolean
  readonly comprehension: boolean
}

/** What a decision asks of approvers beyond `asked`, as the object of "needs"; undefined if nothing. */
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
