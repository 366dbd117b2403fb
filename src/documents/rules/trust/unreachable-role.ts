import { didYouMean, nearestCandidate } from '../../text/suggest.ts'
import { splitRoles } from '../../../spec/people/approver-role.ts'
import type { LintRule } from '../../facts/rule.ts'

export const trustUnreachableRole: LintRule<'trust'> = {
  severity: 'warning',
  law: 'Somebody in the trust document has the role that an approval asks for.',
  fix: 'Give the role to somebody in `spec.people` of trust.yaml, or name one that somebody has.',
  reason: 'Otherwise nobody may approve, and each such call ends with its time-out.',
  kinds: ['Policy'],
  needs: ['trust'],
  check(document, report, { trust }) {
    for (const found of document.at('spec.decision.runtime.*'))
      if (found.key === 'svc/approver_role' && typeof found.value === 'string')
        for (const role of splitRoles(found.value))
          if (!trust.roles.has(role))
            report(
              found,
              `Nobody in ${trust.file} has the role ${role}.${didYouMean(nearestCandidate(role, trust.roles))}`,
            )
  },
}
