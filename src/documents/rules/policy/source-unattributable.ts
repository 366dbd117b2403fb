import type { JsonValue } from '../../../base/json/json.ts'
import { isAttributable } from '../../../policy/condition/attributable.ts'
import { domainBelow, finiteValues, mayBeOf, numbersFor, type ValueDomain } from '../../../policy/prove/domains.ts'
import { leavesIn } from '../../facts/policies/conditions.ts'
import { knownCallsOf } from '../../facts/policies/known-calls.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policySourceUnattributable: LintRule = {
  severity: 'warning',
  law: 'A condition on `source` tests an argument whose values say where they come from.',
  fix: 'Test an argument that identifies something, such as a recipient.',
  reason: 'Truth values, short texts and short numbers occur everywhere: for them the condition is unknown.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const calls = knownCallsOf(workspace, document)
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.path.root !== 'source') continue
      const found = calls.find(({ schema }) => isNeverAttributable(domainBelow([schema.value], leaf.path.segments)))
      if (found) report(`${pointer}/field`, `${leaf.path.text} is always unknown: values this short come from nowhere.`)
    }
  },
}

function isNeverAttributable(domain: ValueDomain): boolean {
  const values = finiteValues(domain)
  // A value that is the only one a schema allows comes from the documents.
  if (values !== undefined) return values.length > 1 && !values.some((value: JsonValue) => isAttributable(value))
  if (mayBeOf(domain, 'array', 'object')) return false
  const isShortText = !mayBeOf(domain, 'string') || numbersFor(domain, 'maxLength').some((most) => most < 4)
  const isShortNumber = !mayBeOf(domain, 'number', 'integer') || hasSmallIntegers(domain)
  return isShortText && isShortNumber
}

/** Integers of at most four digits. */
const hasSmallIntegers = (domain: ValueDomain): boolean =>
  !domain.schemas.every(({ schema }) => typeof schema === 'boolean' || schema['type'] !== 'integer') &&
  numbersFor(domain, 'maximum').some((most) => most < 10_000) &&
  numbersFor(domain, 'minimum').some((least) => least > -10_000)
