import { comparesAgain, groupsIn } from '../../facts/policies/conditions.ts'
import { isSpread } from '../../../policy/condition/path.ts'
import { conditionImplies, isSatisfiable } from '../../../policy/prove/conditions.ts'
import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyRedundantLeaf: LintRule = {
  severity: 'info',
  law: 'No condition is implied by another beside it.',
  fix: 'Remove the one that the other implies.',
  reason: 'The implied condition changes no decision, so it looks like a restriction that is not there.',
  kinds: ['Policy'],
  check(document, report) {
    if (!comparesAgain(document)) return
    for (const { form, members, condition: together } of groupsIn(document)) {
      const leaves = members.filter(({ condition }) => 'leaf' in condition)
      if (leaves.length < 2 || (form === 'all' && !isSatisfiable(together))) continue
      for (const [index, one] of leaves.entries()) {
        const stronger = leaves.find(({ condition }, at) => {
          if (at === index || !sameField(condition, one.condition)) return false
          const [first, second] = form === 'all' ? [condition, one.condition] : [one.condition, condition]
          return conditionImplies(first, second) && (at < index || !conditionImplies(second, first))
        })
        if (stronger === undefined) continue
        report(document.placeOf(`${one.pointer}/value`), 'A condition beside it already implies this.', {
          fix: { description: 'Remove it.', edits: removalEdits(document, one.pointer) },
          related: [
            { path: document.path, range: document.placeOf(`${stronger.pointer}/value`).range, message: 'says more' },
          ],
        })
      }
    }
  },
}

type GroupCondition = ReturnType<typeof groupsIn>[number]['members'][number]['condition']

const sameField = (one: GroupCondition, other: GroupCondition): boolean =>
  'leaf' in one &&
  'leaf' in other &&
  one.leaf.path.text === other.leaf.path.text &&
  one.leaf.ifMissing === other.leaf.ifMissing &&
  !isSpread(one.leaf.path)
