import { gatedAgents } from '../attachments.ts'
import type { Rule } from '../rule.ts'

export const hitlShorterThanTimeout: Rule = {
  name: 'limits/hitl-shorter-than-timeout',
  severity: 'warning',
  law: 'A run waits for people at least as long as its approvals do.',
  fix: 'Raise `max_hitl_wait_minutes`, or lower `after_minutes`.',
  source: 'Authoring format, "Limits": `max_hitl_wait_minutes` is a budget for approval waits',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5, max_hitl_wait_minutes: 10}\n',
    'tool.yaml': 'kind: Tool\n',
    'policy.yaml':
      'kind: Policy\nspec: {decision: {type: require_approval, timeout: {after_minutes: 30, default: deny}}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5, max_hitl_wait_minutes: 60}\n',
    'tool.yaml': 'kind: Tool\n',
    'policy.yaml':
      'kind: Policy\nspec: {decision: {type: require_approval, timeout: {after_minutes: 30, default: deny}}}\n',
  },
  crossFile: true,
  kinds: ['Policy'],
  needs: ['spec.decision.timeout.after_minutes'],
  check(document, report, { workspace }) {
    const after = document.at('spec.decision.timeout.after_minutes')[0]
    if (typeof after?.value !== 'number') return
    for (const agent of gatedAgents(workspace, document)) {
      const wait = agent.at('spec.limits.max_hitl_wait_minutes')[0]
      if (typeof wait?.value !== 'number' || wait.value <= 0 || wait.value >= after.value) continue
      report(
        after,
        `${agent.identity?.id ?? 'The agent'} waits ${wait.value} minutes for people; this default would come after ${after.value}.`,
        {
          why: 'The run reaches its limit before the default is applied.',
          related: [{ path: wait.path, range: wait.range, message: 'the budget of the run' }],
        },
      )
    }
  },
}
