import { attachmentsOf, scopeOf } from '../../facts/policies/attachments.ts'
import { gateEffectOf } from '../../facts/policies/authority.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyAllowEverything: LintRule = {
  severity: 'warning',
  law: 'A policy that applies to a whole agent does not allow every call.',
  fix: 'Give it a scope, or conditions.',
  reason: 'The policy lifts the approvals that irreversible actions need by default.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const { at, policies } of attachmentsOf(workspace, document)) {
      const policy = policies[0]
      if (policy === undefined || !at.pointer.startsWith('/spec/default_policies/')) continue
      if (gateEffectOf(policy) !== 'grant' || scopeOf(policy) !== undefined || policy.at('spec.conditions').length > 0)
        continue
      report(at, `${policy.identity?.id ?? at.value} allows every call of every tool.`, {
        why: 'Irreversible actions are then done without an approval.',
        related: [{ path: policy.path, range: policy.placeOf('/spec/decision/type').range, message: 'the grant' }],
      })
    }
  },
}
