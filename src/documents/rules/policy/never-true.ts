import { foldIdentity } from '../../../base/identity.ts'
import { describeValue } from '../../../policy/condition/describe.ts'
import { leavesOf, type Condition, type ConditionLeaf } from '../../../policy/condition/condition.ts'
import { operatorRow } from '../../../policy/condition/operators.ts'
import { isAlwaysUnknown } from '../../../policy/prove/satisfiable.ts'
import { conditionOf, leavesIn } from '../../facts/policies/conditions.ts'
import { replaceScalarFix, type FindingFix, type FindingPlace } from '../../text/diagnostic.ts'
import { domainAfter } from '../../../policy/prove/function-domain.ts'
import { domainsOf } from '../../facts/policies/known-calls.ts'
import { isSatisfiable } from '../../../policy/prove/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'
import { nearestCandidate } from '../../text/suggest.ts'
import { isPossibleValue, withoutSchema, type PossibleValues } from '../../../policy/prove/possible-values.ts'

export const policyNeverTrue: LintRule = {
  severity: 'error',
  law: 'A condition, and each comparison in it, is true for some call.',
  fix: 'Compare with a value that can be there.',
  reason: 'A gate that never applies stops no call, and a grant that never applies allows none.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const condition = conditionOf(document)
    if (condition === undefined) return
    const known = domainsOf(workspace, document)
    const [first = { domains: withoutSchema }, ...others] = known ?? []
    const calls = [first, ...others]
    const isDead = (each: Condition): boolean => !calls.some(({ domains }) => isSatisfiable(each, domains))
    // `policy/contradiction` reports what is impossible with any schema, `policy/type-mismatch` and
    // `policy/field-not-in-schema` of comparisons that are always unknown.
    if (!isSatisfiable(condition)) return
    const unknown = (leaf: ConditionLeaf): boolean =>
      calls.every(({ domains }) => {
        const domain = domains(leaf.path)
        return domain === undefined || domain.types.length === 0 || isAlwaysUnknown(leaf, domain)
      })
    const dead = leavesIn(document).filter(({ leaf }) => isDead(wanted(condition, leaf)) && !unknown(leaf))
    const allowed = (known ?? []).slice(0, 1).map(({ schema }) => ({
      path: schema.spans.source.path,
      range: schema.placeOf('/properties').range,
      message: 'the arguments that are allowed',
    }))
    for (const { pointer, leaf } of dead) {
      const place = document.placeOf(`${pointer}/value`)
      const domain = first.domains(leaf.path)
      report(place, reasonOf(leaf, !isNegated(condition, leaf), domain), {
        why: 'A gate with it never stops a call for that reason, and a grant never lets one pass.',
        ...(leaf.path.root === 'args' && { related: allowed }),
        ...fixOf(place, leaf, domain),
      })
    }
    if (dead.length > 0 || !isDead(condition) || leavesOf(condition).some(unknown)) return
    const tools = [...new Set((known ?? []).map(({ tool }) => tool))].join(' or ')
    report('/spec/conditions', `No call${tools === '' ? '' : ` of ${tools}`} makes these conditions true.`, {
      related: allowed,
    })
  },
}

/** The leaf with the truth value that helps to make the condition true. */
const wanted = (condition: Condition, leaf: ConditionLeaf): Condition =>
  isNegated(condition, leaf) ? { not: { leaf } } : { leaf }

function isNegated(condition: Condition, leaf: ConditionLeaf): boolean {
  if ('leaf' in condition) return false
  if ('not' in condition) return leavesOf(condition.not).includes(leaf) && !isNegated(condition.not, leaf)
  return ('all' in condition ? condition.all : condition.any).some((each) => isNegated(each, leaf))
}

function reasonOf({ path, op, value }: ConditionLeaf, truth: boolean, domain: PossibleValues | undefined): string {
  const values = domain === undefined ? undefined : domainAfter(path.fn, domain).values
  const is = `\`${path.text} ${operatorRow(op).word} ${describeValue(value)}\` is never ${truth}`
  if (values !== undefined)
    return `${is}: ${values.length === 0 ? 'no value is allowed there' : `the value is ${values.slice(0, 8).map(describeValue).join(' or ')}`}.`
  if (path.fn === 'lower' && typeof value === 'string' && value !== value.toLowerCase())
    return `${is}: lower() leaves no capital letters.`
  if (path.fn === 'fold' && typeof value === 'string' && value !== foldIdentity(value))
    return `${is}: fold() returns the form "${foldIdentity(value)}".`
  return `${is}: there is no such value.`
}

/** A fix with the value that was probably meant. */
function fixOf(
  place: FindingPlace,
  { path, op, value }: ConditionLeaf,
  domain: PossibleValues | undefined,
): { readonly fix?: FindingFix | string } {
  if (domain === undefined || typeof value !== 'string' || value === '') return {}
  const after = domainAfter(path.fn, domain)
  const values = after.values?.filter((each) => typeof each === 'string')
  const lower = path.fn === 'fold' ? foldIdentity(value) : value.toLowerCase()
  if (op !== 'eq' && op !== 'ne' && op !== 'starts_with' && op !== 'ends_with' && op !== 'contains') return {}
  const near = op === 'eq' ? nearestCandidate(value, values ?? []) : undefined
  const [begun, ...others] = (values ?? []).filter((each) => each.startsWith(value))
  const converted = isPossibleValue(after, lower) ? lower : undefined
  const completed = others.length > 0 ? undefined : begun
  const meant = path.fn === undefined ? (near ?? completed) : converted
  if (meant !== undefined) return { fix: replaceScalarFix(place, meant) }
  return values === undefined || values.length === 0 || values.length > 8
    ? {}
    : { fix: `Write ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}.` }
}
