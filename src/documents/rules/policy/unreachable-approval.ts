import { coveringPolicy } from '../../facts/policies/covering.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyUnreachableApproval: LintRule = {
  severity: 'warning',
  law: 'An approval applies to some call that no stricter policy denies.',
  fix: 'Move a bound.',
  reason: 'The strictest policy decides: a denial outweighs an escalation, and an escalation an approval.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const by = coveringPolicy(workspace, document, ['require_approval'], ['deny', 'block', 'escalate'])
    if (by === undefined) return
    report(
      '/spec/decision/type',
      `${by.identity?.id ?? 'A stricter policy'} denies every call for which this policy requires an approval.`,
      {
        related: [{ path: by.path, range: by.placeOf('/spec/decision/type').range, message: 'overrules it' }],
      },
    )
  },
}
