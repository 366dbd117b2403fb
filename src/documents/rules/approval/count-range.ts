import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

/** More people than this rarely answer in time. */
const MOST = 10

export const approvalCountRange: LintRule = {
  severity: 'error',
  essential: true,
  law: `From 1 to ${MOST} approvals are required.`,
  fix: 'Write a number from 1 to 10.',
  source: 'Authoring format, "decision": `approvals_required`',
  kinds: ['Policy'],
  check(document, report) {
    const { approvals_required: count } = decisionOf(document)
    if (typeof count === 'number' && !(count >= 1 && count <= MOST))
      report('/spec/decision/approvals_required', `approvals_required must be from 1 to ${MOST}, but is ${count}.`)
  },
}
