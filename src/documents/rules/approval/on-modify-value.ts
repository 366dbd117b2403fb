import { checkDecisionWord } from '../../facts/policies/decision-word.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalOnModifyValue: LintRule = {
  severity: 'error',
  essential: true,
  law: '`on_modify` is `revalidate`, `accept` or `reject`.',
  fix: 'Write revalidate, accept or reject.',
  source: 'Authoring format, "decision": `on_modify`',
  kinds: ['Policy'],
  check: checkDecisionWord('on_modify', ['revalidate', 'accept', 'reject']),
}
