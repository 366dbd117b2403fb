import { conditionProblems } from '../conditions.ts'
import type { Rule } from '../rule.ts'

export const patternInvalid: Rule = {
  name: 'policy/pattern-invalid',
  severity: 'error',
  law: 'A pattern has RE2 syntax: no lookaround, no backreferences.',
  fix: 'Rewrite the pattern in RE2 syntax.',
  source: 'Policies, section 2: `matches`',
  bad: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.memo, op: matches, value: "(?=x)"}\n' },
  good: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.memo, op: matches, value: "^x"}\n' },
  kinds: ['Policy'],
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document))
      if (code === 'pattern') report(pointer, message)
  },
}
