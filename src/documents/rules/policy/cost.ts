import { conditionProblems } from '../../facts/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyCost: LintRule = {
  name: 'policy/cost',
  severity: 'error',
  law: 'Conditions are at most 8 deep, with at most 128 comparisons and 64 members of a list.',
  fix: 'Split the policy by scope, or use `in`.',
  source: 'Policies, section 2',
  bad: {
    'policy.yaml': `kind: Policy\nspec:\n  conditions: ${'{not: '.repeat(8)}{field: args.a, op: exists}${'}'.repeat(8)}\n`,
  },
  good: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {not: {field: args.a, op: exists}}\n' },
  kinds: ['Policy'],
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document)) if (code === 'cost') report(pointer, message)
  },
}
