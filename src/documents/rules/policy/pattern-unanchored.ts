import { leavesIn } from '../../facts/policies/conditions.ts'
import { withoutSlashes } from '../../workspace/common-mistakes.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyPatternUnanchored: LintRule = {
  severity: 'info',
  law: 'A pattern is anchored with `^` and `$`; otherwise it matches anywhere in the value.',
  fix: 'Add `^` and `$`.',
  reason: '`example` without anchors matches `not-example-at-all` too.',
  kinds: ['Policy'],
  check(document, report) {
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.op !== 'matches' || typeof leaf.value !== 'string') continue
      const { value } = leaf
      // `policy/pattern-invalid` reports slashes, with which nothing matches.
      if (withoutSlashes(value) !== undefined) continue
      if (/^(?:\(\?[a-z]+\))?(?:\^|\\A)/.test(value) && /(?:\$|\\z)$/.test(value)) continue
      report(`${pointer}/value`, `"${value}" matches anywhere in the value.`)
    }
  },
}
