import { leavesIn } from '../../facts/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const substringList: LintRule = {
  name: 'policy/substring-list',
  severity: 'warning',
  law: 'Membership in a list is `in`; `contains` finds any part of a text.',
  fix: 'Use `in` with a list.',
  source: 'Policies, section 2: operators',
  kinds: ['Policy'],
  check(document, report) {
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.op !== 'contains' || typeof leaf.value !== 'string') continue
      const items = leaf.value.split(/[,;|]\s*/).filter((each) => each !== '')
      if (items.length < 2 || !items.every((each) => /^[\w.@-]+$/.test(each))) continue
      report(`${pointer}/value`, `The value would have to contain the whole text "${leaf.value}".`, {
        fix: `Write op: in, value: [${items.join(', ')}].`,
      })
    }
  },
}
