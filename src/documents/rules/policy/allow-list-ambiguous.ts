import { gatedBindings } from '../../facts/policies/attachments.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import { inferredField, namedField } from '../../../policy/allow-field.ts'
import { gateEffectOf } from '../../facts/policies/authority.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyAllowListAmbiguous: LintRule = {
  severity: 'error',
  law: 'An allow list checks exactly one argument.',
  fix: 'Name the argument: `decision.runtime: {svc/allow_field: …}`.',
  reason: 'Several arguments of the tool could be meant.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (gateEffectOf(document) !== 'list') return
    const named = document.at('spec.decision.runtime.*').find(({ key }) => key === 'svc/allow_field')
    if (named !== undefined) {
      if (namedField(named.value) === undefined)
        report(named, `${JSON.stringify(named.value)} is not the path of an argument.`)
      return
    }
    for (const use of gatedBindings(workspace, document)) {
      const input = inputOf(workspace, use)
      if (use.ref === undefined || input === undefined || inferredField(input.value) !== undefined) continue
      report('/spec/allow', `It is not clear which argument of ${use.ref.id} this list checks.`, {
        related: [
          {
            path: input.spans.source.path,
            range: input.placeOf('/properties').range,
            message: 'its arguments',
          },
        ],
      })
    }
  },
}
