import { boundariesOf, gateEffectOf } from '../../facts/policies/authority.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyAuthorityRefAuth: LintRule = {
  severity: 'warning',
  law: '`authority_ref` links a policy to a boundary; it grants nothing.',
  fix: 'Add conditions, or decide `require_approval`.',
  source: 'Authoring format, "decision": `authority_ref` performs no authorization',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (decisionOf(document)['type'] !== 'allow') return
    if (document.at('spec.conditions').length > 0 || document.at('spec.allow').length > 0) return
    // `authority/all-allow` reports a boundary with grants only.
    const agents = workspace.publishedTogether(document).filter(({ kind }) => kind === 'Agent')
    const boundaries = agents.flatMap((agent) => boundariesOf(workspace, agent))
    const alone = boundaries.some(
      ({ policies }) => policies.includes(document) && policies.every((policy) => gateEffectOf(policy) === 'grant'),
    )
    if (alone) return
    for (const { pointer } of document.at('spec.decision.authority_ref'))
      report(pointer, 'This policy allows every call: `authority_ref` alone checks nothing.', {
        fix: 'Add conditions, or decide `require_approval`.',
      })
  },
}
