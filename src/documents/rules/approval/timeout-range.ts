import { isJsonObject } from '../../../base/json/json.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalTimeoutRange: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A timeout is at least one minute.',
  fix: 'Write a number of minutes above 0.',
  source: 'Authoring format, "decision": `timeout`',
  kinds: ['Policy'],
  check(document, report) {
    const { timeout } = decisionOf(document)
    const minutes = isJsonObject(timeout) ? timeout['after_minutes'] : undefined
    if (typeof minutes === 'number' && minutes <= 0)
      report('/spec/decision/timeout/after_minutes', `after_minutes must be greater than zero, but is ${minutes}.`)
  },
}
