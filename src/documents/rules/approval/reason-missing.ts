import { decisionOf } from '../../facts/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const reasonMissing: LintRule = {
  name: 'approval/reason-missing',
  severity: 'info',
  law: 'An approver reads why he is asked.',
  fix: 'Add `decision.reason`.',
  source: 'Authoring format, "decision": `reason` is stored in the approval payload',
  kinds: ['Policy'],
  check(document, report) {
    const { type, reason } = decisionOf(document)
    if (type !== 'require_approval' && type !== 'escalate') return
    if (typeof reason !== 'string' || reason.trim() === '')
      report('/spec/decision/type', 'The approver is not told why.')
  },
}
