import { conditionProblems, fieldsIn } from '../conditions.ts'
import { replacement } from '../diagnostic.ts'
import type { Rule } from '../rule.ts'

export const conditionField: Rule = {
  name: 'policy/condition-field',
  severity: 'error',
  law: 'A field of a condition is one that a call has. A bare name is an argument, and better written `args.name`.',
  fix: 'Write a field that calls have; arguments begin with `args.`.',
  source: 'Policies, section 2: paths',
  bad: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: run.dpth, op: gt, value: 1}\n' },
  good: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: run.depth, op: gt, value: 1}\n' },
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document)) if (code === 'field') report(pointer, message)
    for (const { pointer, path } of fieldsIn(document)) {
      if (path.bare !== true) continue
      const place = document.placeOf(pointer)
      report(place, `A bare name is an argument: ${path.text}.`, {
        severity: 'info',
        fix: replacement(place, path.text),
      })
    }
  },
}
