import { mappingIn } from '../../text/document.ts'
import { gatedAgents } from '../../facts/policies/attachments.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'
import { insertionEdits } from '../../edit/insertion.ts'

export const approvalNoTimeout: LintRule = {
  severity: 'info',
  strict: 'warning',
  law: 'An approval does not wait forever: the policy has a timeout, or its agents set `max_hitl_wait_minutes`.',
  fix: 'Add `timeout: {after_minutes: 60, default: deny}`.',
  source: 'Authoring format, "decision": `timeout`; "Limits": `max_hitl_wait_minutes`',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const { type, timeout } = decisionOf(document)
    if (timeout !== undefined || type !== 'require_approval') return
    const agents = gatedAgents(workspace, document)
    if (
      agents.length > 0 &&
      agents.every((agent) => mappingIn(agent, 'spec', 'limits')['max_hitl_wait_minutes'] !== undefined)
    )
      return
    report('/spec/decision/type', 'This approval may wait forever.', {
      fix: {
        description: 'Add `timeout: {after_minutes: 60, default: deny}`.',
        edits: insertionEdits(document, '/spec/decision/timeout', '{ after_minutes: 60, default: deny }'),
        unsafe: true,
      },
    })
  },
}
