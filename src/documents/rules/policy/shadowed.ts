import { coveringPolicy } from '../../facts/policies/covering.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyShadowed: LintRule = {
  severity: 'warning',
  law: 'A policy changes some decision: a denial that another denial covers has no effect.',
  fix: 'Remove it, or correct its bound.',
  reason: 'A decision that never counts misleads whoever reviews the policies.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const by = coveringPolicy(workspace, document, ['deny', 'block'], ['deny', 'block'])
    if (by === undefined) return
    report('/spec/conditions', `${by.identity?.id ?? 'Another policy'} denies every call that this one denies.`, {
      related: [{ path: by.path, range: by.placeOf('/spec/conditions').range, message: 'covers it' }],
    })
  },
}
