import { conditionProblems } from '../conditions.ts'
import type { Rule } from '../rule.ts'

export const conditionSyntax: Rule = {
  name: 'policy/condition-syntax',
  severity: 'error',
  law: 'A condition is `all`, `any`, `not`, or a comparison `{field, op, value}`.',
  fix: 'Write all, any, not, or a comparison of a field.',
  source: 'Policies, section 2',
  bad: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.amount, operator: gt, value: 500}\n' },
  good: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.amount, op: gt, value: 500}\n' },
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document))
      if (code === 'syntax') report(pointer, message)
  },
}
