import { comparesAgain, groupsIn } from '../conditions.ts'
import { isSpread } from '../../policy/path.ts'
import { implies, satisfiable } from '../reasoning.ts'
import { removalOf } from '../removal.ts'
import type { Rule } from '../rule.ts'

export const redundantLeaf: Rule = {
  name: 'policy/redundant-leaf',
  severity: 'info',
  law: 'Each condition adds something to those beside it.',
  fix: 'Remove the one that the other implies.',
  source: 'Policies, section 2: `all` and `any`',
  bad: {
    'policy.yaml':
      'kind: Policy\nspec:\n  conditions: {all: [{field: args.amount, op: gt, value: 100}, {field: args.amount, op: gt, value: 500}]}\n',
  },
  good: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.amount, op: gt, value: 500}\n' },
  kinds: ['Policy'],
  check(document, report) {
    if (!comparesAgain(document)) return
    for (const { form, members, condition: together } of groupsIn(document)) {
      const leaves = members.filter(({ condition }) => 'leaf' in condition)
      if (leaves.length < 2 || (form === 'all' && !satisfiable(together))) continue
      for (const [index, one] of leaves.entries()) {
        const stronger = leaves.find(({ condition }, at) => {
          if (at === index || !sameField(condition, one.condition)) return false
          const [first, second] = form === 'all' ? [condition, one.condition] : [one.condition, condition]
          return implies(first, second) && (at < index || !implies(second, first))
        })
        if (stronger === undefined) continue
        report(document.placeOf(`${one.pointer}/value`), 'The condition beside it says this already.', {
          fix: { description: 'Remove it.', edits: removalOf(document, one.pointer) },
          related: [
            { path: document.path, range: document.placeOf(`${stronger.pointer}/value`).range, message: 'says more' },
          ],
        })
      }
    }
  },
}

type Condition = ReturnType<typeof groupsIn>[number]['members'][number]['condition']

const sameField = (one: Condition, other: Condition): boolean =>
  'leaf' in one &&
  'leaf' in other &&
  one.leaf.path.text === other.leaf.path.text &&
  one.leaf.ifMissing === other.leaf.ifMissing &&
  !isSpread(one.leaf.path)
