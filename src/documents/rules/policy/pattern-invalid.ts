import { conditionProblems, leavesIn } from '../../facts/policies/conditions.ts'
import { withoutSlashes } from '../../workspace/common-mistakes.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyPatternInvalid: LintRule = {
  severity: 'error',
  law: 'A pattern uses RE2 syntax: no lookaround, no backreferences.',
  fix: 'Rewrite the pattern in RE2 syntax.',
  reason: 'RE2 matches in linear time; the missing features are those that can take exponential time.',
  kinds: ['Policy'],
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document))
      if (code === 'pattern') report(pointer, message)
    for (const { pointer, leaf } of leavesIn(document)) {
      const { op, value } = leaf
      if (op !== 'matches' || typeof value !== 'string') continue
      const meant = withoutSlashes(value)
      if (meant === undefined) continue
      const place = document.placeOf(`${pointer}/value`)
      report(place, `The slashes of "${value}" are part of the pattern, so no value matches it.`, {
        // Not a safe fix: a policy that never applied would start to apply.
        fix: { ...replaceScalarFix(place, meant), edits: [{ ...place, text: JSON.stringify(meant) }], unsafe: true },
      })
    }
  },
}
