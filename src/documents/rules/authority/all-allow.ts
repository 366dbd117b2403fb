import { boundariesOf, gateEffectOf } from '../../facts/policies/authority.ts'
import type { LintRule } from '../../facts/rule.ts'

export const authorityAllAllow: LintRule = {
  severity: 'error',
  law: 'A boundary has at least one policy that restricts; grants alone restrict nothing.',
  fix: 'Add a policy that denies, or asks for an approval.',
  source: 'Authoring format, "What the service does", 3',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const { id, pointer, policies } of boundariesOf(workspace, document)) {
      const [first] = policies
      if (first === undefined || policies.some((policy) => gateEffectOf(policy) !== 'grant')) continue
      report(pointer, `The boundary "${id}" has only policies that grant: it restricts nothing.`, {
        related: [{ path: first.path, range: first.placeOf('/spec/decision/type').range, message: 'a grant' }],
      })
    }
  },
}
