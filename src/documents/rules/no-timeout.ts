import { gatedAgents } from '../attachments.ts'
import type { Rule } from '../rule.ts'

export const noTimeout: Rule = {
  name: 'approval/no-timeout',
  severity: 'info',
  strict: 'warning',
  law: 'An approval does not wait for ever: the policy has a timeout, or its agents have `max_hitl_wait_minutes`.',
  fix: 'Add `timeout: {after_minutes: 60, default: deny}`.',
  source: 'Authoring format, "decision": `timeout`; "Limits": `max_hitl_wait_minutes`',
  bad: { 'policy.yaml': 'kind: Policy\nspec: {decision: {type: require_approval}}\n' },
  good: {
    'policy.yaml':
      'kind: Policy\nspec: {decision: {type: require_approval, timeout: {after_minutes: 60, default: deny}}}\n',
  },
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (document.at('spec.decision.timeout').length > 0) return
    const type = document.at('spec.decision.type')[0]
    if (type?.value !== 'require_approval') return
    const agents = gatedAgents(workspace, document)
    if (agents.length > 0 && agents.every((agent) => agent.at('spec.limits.max_hitl_wait_minutes').length > 0)) return
    report(type, 'This approval may wait for ever.', { fix: 'Add `timeout: {after_minutes: 60, default: deny}`.' })
  },
}
