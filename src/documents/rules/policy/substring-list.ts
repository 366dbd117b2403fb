import { leavesIn } from '../../facts/policies/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policySubstringList: LintRule = {
  severity: 'warning',
  law: 'Use `in` for membership in a list; `contains` matches any part of a string.',
  fix: 'Use `in` with a list.',
  reason: '`contains` takes a value such as `a, b` as one string.',
  kinds: ['Policy'],
  check(document, report) {
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.op !== 'contains' || typeof leaf.value !== 'string') continue
      const items = leaf.value.split(/[,;|]\s*/).filter((each) => each !== '')
      if (items.length < 2 || !items.every((each) => /^[\w.@-]+$/.test(each))) continue
      report(`${pointer}/value`, `The value would have to contain the whole string "${leaf.value}".`, {
        fix: `Write op: in, value: [${items.join(', ')}].`,
      })
    }
  },
}
