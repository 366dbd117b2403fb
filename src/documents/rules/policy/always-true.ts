import { conditionOf } from '../../facts/policies/conditions.ts'
import { domainsOf } from '../../facts/policies/known-calls.ts'
import { isAlwaysTrue } from '../../../policy/prove/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyAlwaysTrue: LintRule = {
  severity: 'warning',
  law: 'A condition is false for some call; one that is always true has no effect.',
  fix: 'Drop the conditions, or tighten them.',
  reason: 'A policy without conditions says the same, and does not look like a restriction.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const condition = conditionOf(document)
    const known = condition && domainsOf(workspace, document)
    if (condition === undefined || known === undefined || known.length === 0) return
    if (known.every(({ domains }) => isAlwaysTrue(condition, domains)))
      report('/spec/conditions', 'Every call that the input schema allows makes these conditions true.')
  },
}
