import { checkDecisionWord } from '../../facts/policies/decision-word.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalOnRejectValue: LintRule = {
  severity: 'error',
  essential: true,
  law: '`on_reject` is `return_to_agent` or `fail`.',
  fix: 'Write return_to_agent or fail.',
  source: 'Authoring format, "decision": `on_reject`',
  kinds: ['Policy'],
  check: checkDecisionWord('on_reject', ['return_to_agent', 'fail']),
}
