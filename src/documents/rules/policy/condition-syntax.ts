import { isJsonObject } from '../../../base/json/json.ts'
import { LEAF_KEYS, type ConditionProblem } from '../../../policy/condition/condition.ts'
import { operatorOf, OPERATORS, type ConditionOperator } from '../../../policy/condition/operators.ts'
import { conditionProblems } from '../../facts/policies/conditions.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { Document } from '../../text/document.ts'
import { segmentsOf, parentPointer } from '../../../base/json/pointer.ts'
import type { ReportFault, LintRule } from '../../facts/rule.ts'
import { nearestCandidate } from '../../text/suggest.ts'
import { rewrittenText } from '../../workspace/wrong-forms.ts'
import { textAfterLast } from '../../../base/text/text-parts.ts'
import { ownMember } from '../../../base/json/own-member.ts'

export const policyConditionSyntax: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A condition is `all`, `any`, `not`, or a comparison `{field, op, value}`.',
  fix: 'Write all, any, not, or a comparison of a field.',
  reason: 'Anything else cannot be evaluated, so the policy is not published.',
  kinds: ['Policy'],
  check(document, report) {
    const all = conditionProblems(document)
    if (all.length === 0) return
    const problems = all.filter(({ code }) => code === 'syntax')
    const strays = new Set(
      problems.filter(({ unknownKey }) => unknownKey === true).map(({ pointer }) => parentPointer(pointer)),
    )
    // An unknown key was probably meant to be the key that the comparison lacks.
    for (const problem of problems) if (!strays.has(problem.pointer)) report(...meant(document, problem))
  },
}

/** Names for the keys of a comparison in other formats. */
const SYNONYMS: Readonly<Record<string, string>> = {
  operator: 'op',
  comparator: 'op',
  comparison: 'op',
  path: 'field',
  argument: 'field',
  values: 'value',
}

/** Names for `all`, `any` and `not` in other formats. */
const COMBINED: Readonly<Record<string, string>> = { and: 'all', every: 'all', or: 'any', some: 'any' }
const NEGATED: readonly string[] = ['none', 'nor', 'nand']

/** Adds a fix with the key or operator that was probably meant. */
function meant(document: Document, { pointer, message, unknownKey }: ConditionProblem): Parameters<ReportFault> {
  const [found] = document.at(dotted(pointer))
  const key = textAfterLast(pointer, '/')
  if (found === undefined) return [pointer, message]
  if (key === 'op' && typeof found.value === 'string') {
    const near = meantOperator(found.value)
    if (near === undefined && denies(found.value)) return [found, message, { fix: 'Write the comparison under `not`.' }]
    return near === undefined
      ? [found, message]
      : [
          found,
          `There is no operator "${found.value}". Did you mean "${near}"?`,
          { fix: replaceScalarFix(found, near) },
        ]
  }
  const rewritten = typeof found.value === 'string' ? rewrittenText(pointer, found.value) : undefined
  if (rewritten !== undefined) {
    const { text, description } = rewritten
    // Flow style of YAML is no JSON; a text of several lines keeps what its author saw in it.
    const isReplaced = !found.path.endsWith('.json') && found.range.start.line === found.range.end.line
    return [
      found,
      message,
      { fix: { description, edits: isReplaced ? [{ path: found.path, range: found.range, text }] : [] } },
    ]
  }
  if (unknownKey !== true) return [found, message]
  const place = { ...found, range: found.keyRange }
  const holder = document.at(dotted(parentPointer(pointer)))[0]?.value
  if (!isJsonObject(holder)) return [place, message]
  const form = COMBINED[key]
  if (Object.keys(holder).length === 1 && form !== undefined)
    return [place, `A condition has no key "${key}". Did you mean \`${form}\`?`, { fix: replaceScalarFix(place, form) }]
  if (Object.keys(holder).length === 1 && NEGATED.includes(key))
    return [
      place,
      `A condition has no key "${key}".`,
      { fix: 'Write `not: { any: [ … ] }`, or `not: { all: [ … ] }`.' },
    ]
  const near = SYNONYMS[key] ?? nearestCandidate(key, LEAF_KEYS)
  if (near !== undefined && !Object.hasOwn(holder, near))
    return [
      place,
      `A comparison has no key "${key}". Did you mean \`${near}\`?`,
      { fix: replaceScalarFix(place, near) },
    ]
  const op = meantOperator(key)
  if (op !== undefined && !Object.hasOwn(holder, 'op') && !Object.hasOwn(holder, 'value'))
    return [
      place,
      `A comparison has no key "${key}".`,
      { fix: `Write \`op: ${op}\`, and what it compares with as \`value\`.` },
    ]
  return [place, message]
}

/** Names for the operators in other formats, in lower case without separators. */
const ELSEWHERE: Readonly<Record<string, ConditionOperator>> = {
  equals: 'eq',
  equal: 'eq',
  '=': 'eq',
  '===': 'eq',
  notequals: 'ne',
  notequal: 'ne',
  '!==': 'ne',
  '<>': 'ne',
  greaterthan: 'gt',
  ge: 'gte',
  greaterthanorequal: 'gte',
  lessthan: 'lt',
  le: 'lte',
  lessthanorequal: 'lte',
  nin: 'not_in',
  oneof: 'in',
  noneof: 'not_in',
  beginswith: 'starts_with',
  regex: 'matches',
  regexp: 'matches',
}

function meantOperator(written: string): ConditionOperator | undefined {
  const plain = written.toLowerCase().replaceAll(/[-_ ]/g, '')
  const known = operatorOf(written) ?? ownMember(ELSEWHERE, plain)
  if (known !== undefined) return known
  const near = operatorOf(nearestCandidate(written, Object.keys(OPERATORS)) ?? '')
  // A typo fix must not invert a comparison: `not_contains` is not `contains`.
  return near !== undefined && denies(written) !== denies(near) ? undefined : near
}

const denies = (operator: string): boolean => /^(?:n|!|(?:is|does)[-_ ]?n)/i.test(operator)

const dotted = (pointer: string): string => segmentsOf(pointer).join('.')
