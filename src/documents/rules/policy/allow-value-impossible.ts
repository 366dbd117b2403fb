import { isJsonObject } from '../../../base/json/json.ts'
import { gatedBindings } from '../../facts/policies/attachments.ts'
import { gateEffectOf } from '../../facts/policies/authority.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import { inferredField, namedField } from '../../../policy/allow-field.ts'
import { readArgumentPath } from '../../../policy/condition/path.ts'
import { domainBelow, finiteValues } from '../../../policy/prove/domains.ts'
import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'

export const policyAllowValueImpossible: LintRule = {
  severity: 'warning',
  law: 'The argument can have each value of an allow list.',
  fix: 'Write a value that the input schema allows.',
  reason: 'Such a value allows no call.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (gateEffectOf(document) !== 'list') return
    const named = document.at('spec.decision.runtime.*').find(({ key }) => key === 'svc/allow_field')
    const lists = gatedBindings(workspace, document).map((use) => {
      const schema = inputOf(workspace, use)?.value
      const field = named === undefined ? inferredField(schema) : namedField(named.value)
      const path = field === undefined ? undefined : readArgumentPath(field)
      const values = path && isJsonObject(schema) ? finiteValues(domainBelow([schema], path.segments)) : undefined
      return values?.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    })
    const [first] = lists
    if (first === undefined) return
    for (const each of document.texts('spec.allow.*')) {
      if (!lists.every((values) => values !== undefined && !values.includes(each.value))) continue
      const near = nearestCandidate(each.value, first)
      report(each, `The argument is never "${each.value}": ${first.join(', ')}.${didYouMean(near)}`)
    }
  },
}
