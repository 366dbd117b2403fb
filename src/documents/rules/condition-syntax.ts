import { isJsonObject } from '../../base/json.ts'
import { LEAF_KEYS } from '../../policy/condition.ts'
import { OPERATORS } from '../../policy/operators.ts'
import { conditionProblems } from '../conditions.ts'
import { replacement } from '../diagnostic.ts'
import type { Document } from '../document.ts'
import { segmentsOf } from '../pointer.ts'
import type { Report, Rule } from '../rule.ts'
import { nearest } from '../suggest.ts'

export const conditionSyntax: Rule = {
  name: 'policy/condition-syntax',
  severity: 'error',
  law: 'A condition is `all`, `any`, `not`, or a comparison `{field, op, value}`.',
  fix: 'Write all, any, not, or a comparison of a field.',
  source: 'Policies, section 2',
  bad: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.amount, operator: gt, value: 500}\n' },
  good: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.amount, op: gt, value: 500}\n' },
  kinds: ['Policy'],
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document))
      if (code === 'syntax') report(...meant(document, pointer, message))
  },
}

/** What other formats call the keys of a comparison. */
const SYNONYMS: Readonly<Record<string, string>> = {
  operator: 'op',
  comparator: 'op',
  comparison: 'op',
  path: 'field',
  argument: 'field',
  values: 'value',
}

/** The same with the key or the operator that was surely meant. */
function meant(document: Document, pointer: string, message: string): Parameters<Report> {
  const [found] = document.at(dotted(pointer))
  const key = segmentsOf(pointer).at(-1)!
  if (found === undefined) return [pointer, message]
  if (key === 'op' && typeof found.value === 'string') {
    const near = nearest(found.value, Object.keys(OPERATORS))
    return near === undefined
      ? [found, message]
      : [found, `There is no operator "${found.value}". Did you mean "${near}"?`, { fix: replacement(found, near) }]
  }
  if (!message.startsWith('A comparison has no key')) return [found, message]
  const place = { ...found, range: found.keyRange }
  const holder = document.at(dotted(pointer.slice(0, pointer.lastIndexOf('/'))))[0]?.value
  const near = SYNONYMS[key] ?? nearest(key, LEAF_KEYS)
  if (near === undefined || !isJsonObject(holder) || Object.hasOwn(holder, near)) return [place, message]
  return [place, `A comparison has no key "${key}". Did you mean \`${near}\`?`, { fix: replacement(place, near) }]
}

const dotted = (pointer: string): string => segmentsOf(pointer).join('.')
