import { mappingIn } from '../../text/document.ts'
import { isJsonObject } from '../../../base/json/json.ts'
import { gatedAgents } from '../../facts/policies/attachments.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsHitlShorterThanTimeout: LintRule = {
  severity: 'warning',
  law: '`max_hitl_wait_minutes` is at least as long as the timeouts of the approvals in the run.',
  fix: 'Raise `max_hitl_wait_minutes`, or lower `after_minutes`.',
  source: 'Authoring format, "Limits": `max_hitl_wait_minutes` is a budget for approval waits',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const { timeout } = decisionOf(document)
    const after = isJsonObject(timeout) ? timeout['after_minutes'] : undefined
    if (typeof after !== 'number') return
    for (const agent of gatedAgents(workspace, document)) {
      const wait = mappingIn(agent, 'spec', 'limits')['max_hitl_wait_minutes']
      if (typeof wait !== 'number' || wait <= 0 || wait >= after) continue
      const { path, range } = agent.placeOf('/spec/limits/max_hitl_wait_minutes')
      report(
        '/spec/decision/timeout/after_minutes',
        `${agent.identity?.id ?? 'The agent'} waits ${wait} minutes for people; this default would come after ${after}.`,
        {
          why: 'The run reaches its limit before the default is applied.',
          related: [{ path, range, message: 'the budget of the run' }],
        },
      )
    }
  },
}
