import { coveringPolicy } from '../../prove/covering.ts'
import type { LintRule } from '../../facts/rule.ts'

export const unreachableApproval: LintRule = {
  name: 'policy/unreachable-approval',
  severity: 'warning',
  law: 'An approval is asked for some call that no stricter policy stops.',
  fix: 'Move a bound.',
  source: 'Policies, section 4: deny = block > escalate > require_approval',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const by = coveringPolicy(workspace, document, ['require_approval'], ['deny', 'block', 'escalate'])
    if (by === undefined) return
    report('/spec/decision/type', `${by.identity?.id ?? 'A stricter policy'} stops every call for which this asks.`, {
      related: [{ path: by.path, range: by.placeOf('/spec/decision/type').range, message: 'overrules it' }],
    })
  },
}
