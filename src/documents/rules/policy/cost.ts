import { conditionProblems } from '../../facts/policies/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyCost: LintRule = {
  severity: 'error',
  essential: true,
  law: 'Conditions have at most 8 levels, 128 comparisons and 64 members per list.',
  fix: 'Split the policy by scope, or use `in`.',
  reason: 'Every call of an agent evaluates them.',
  kinds: ['Policy'],
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document)) if (code === 'cost') report(pointer, message)
  },
}
