import type { LintRule } from '../../facts/rule.ts'

export const approvalQuorumUnreachable: LintRule<'server'> = {
  severity: 'warning',
  law: 'There are at least as many approvers as a policy requires.',
  fix: 'Add an approver, or lower `approvals_required`.',
  source: 'Authoring format, "decision": `approvals_required` counts distinct approvals',
  kinds: ['Policy'],
  needs: ['server'],
  check(document, report, { server }) {
    const count = document.at('spec.decision.approvals_required')[0]
    if (typeof count?.value !== 'number' || count.value <= server.approvers) return
    report(
      count,
      `${count.value} approvals are required, but ${server.approvers === 1 ? 'only one identity can' : `only ${server.approvers} identities can`} approve.`,
    )
  },
}
