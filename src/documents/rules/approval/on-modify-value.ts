import { oneOf } from '../../facts/one-of.ts'
import type { LintRule } from '../../facts/rule.ts'

export const onModifyValue: LintRule = {
  name: 'approval/on-modify-value',
  severity: 'error',
  law: '`on_modify` is `revalidate`, `accept` or `reject`.',
  fix: 'Write revalidate, accept or reject.',
  source: 'Authoring format, "decision": `on_modify`; decisions, section 8',
  bad: {
    'policy.yaml':
      'kind: Policy\nspec: {decision: {type: require_approval, on_modify: re-validate, timeout: {after_minutes: 60, default: deny}}}\n',
  },
  good: {
    'policy.yaml':
      'kind: Policy\nspec: {decision: {type: require_approval, on_modify: revalidate, timeout: {after_minutes: 60, default: deny}}}\n',
  },
  kinds: ['Policy'],
  check: oneOf('on_modify', ['revalidate', 'accept', 'reject']),
}
