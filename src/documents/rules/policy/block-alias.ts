import { decisionOf } from '../../facts/policies/decision.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyBlockAlias: LintRule = {
  severity: 'info',
  law: '`block` is an alias of `deny`; write `deny`.',
  fix: 'Write deny.',
  source: 'Authoring format, "decision": `block` is treated as `deny`',
  kinds: ['Policy'],
  check(document, report) {
    if (decisionOf(document)['type'] !== 'block') return
    const type = document.placeOf('/spec/decision/type')
    report(type, '`block` is treated as `deny`.', { fix: replaceScalarFix(type, 'deny') })
  },
}
