/** Describes conditions in one line, with the values of a call. */
import { toIsoText } from '../../base/clock.ts'
import { cutText, shortenText } from '../../base/text/cut-text.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { Condition, ConditionLeaf } from './condition.ts'
import { inWindow } from './history.ts'
import type { EvaluatedLeaf } from './evaluate.ts'
import { operatorRow } from './operators.ts'

/** Longer values are cut, in characters: people read decisions at a glance. */
const MAX_VALUE = 80

/** `args.amount > 100`. */
export function describeLeaf(leaf: ConditionLeaf): string {
  const { ifMissing } = leaf
  return ifMissing === undefined
    ? describeComparison(leaf)
    : `${describeComparison(leaf)} (${ifMissing ? 'or absent' : 'if present'})`
}

function describeComparison({ path, op, value, each, windowMs }: ConditionLeaf): string {
  const field = `${each === undefined ? '' : `${each} `}${inWindow(path.text, windowMs)}`
  if (op === 'exists') return `${field} ${value === true ? 'exists' : 'does not exist'}`
  if (op === 'within') return `${field} within ${describeHours(value as Hours)}`
  return `${field} ${operatorRow(op).word} ${describeValue(value)}`
}

/**
 * `args.amount > 100 (180) and args.country == "DE" (absent)`.
 * @param seen the value of each comparison from left to right; without it only the condition is described
 */
export const describeCondition = (condition: Condition, seen?: readonly EvaluatedLeaf[]): string =>
  describeNode(condition, false, seen?.values())

/** @param seen the comparisons that follow, from left to right */
function describeNode(condition: Condition, isInList: boolean, seen: Iterator<EvaluatedLeaf> | undefined): string {
  if ('leaf' in condition) {
    const { leaf } = condition
    return seen ? `${describeLeaf(leaf)} (${describeSeenValue(leaf, seen.next().value?.value)})` : describeLeaf(leaf)
  }
  if ('not' in condition) return `not (${describeNode(condition.not, false, seen)})`
  const [members, word] = 'all' in condition ? [condition.all, ' and '] : [condition.any, ' or ']
  const text = members.map((member) => describeNode(member, members.length > 1, seen)).join(word)
  return isInList && members.length > 1 ? `(${text})` : text
}

const describeSeenValue = ({ path }: ConditionLeaf, value: JsonValue | undefined): string =>
  path.root === 'time' ? describeMoment(value) : describeValue(value)

/** Milliseconds since 1970 as an ISO time. */
export const describeMoment = (value: JsonValue | undefined): string =>
  typeof value === 'number' && Math.abs(value) <= MAX_INSTANT ? toIsoText(value) : describeValue(value)

/** Beyond it there is no date. */
const MAX_INSTANT = 8.64e15

/** A value as JSON in one line, cut where it is long. */
export function describeValue(value: JsonValue | undefined): string {
  if (value === undefined) return 'absent'
  if (typeof value === 'string') return JSON.stringify(shortenText(value, MAX_VALUE))
  if (typeof value !== 'object' || value === null) return String(value)
  return shortenText(beginJson(value), MAX_VALUE)
}

/** The beginning of the JSON text of a value, at least as much as is shown. Arguments may be too large and deep to serialize whole. */
function beginJson(value: JsonValue): string {
  let text = ''
  const write = (part: JsonValue): void => {
    if (text.length > MAX_VALUE) return
    if (typeof part === 'string') text += JSON.stringify(cutText(part, MAX_VALUE).text)
    else if (typeof part !== 'object' || part === null) text += String(part)
    else if (Array.isArray(part)) list('[]', part.slice(0, MAX_VALUE), write)
    else
      list('{}', Object.keys(part).slice(0, MAX_VALUE), (key) => {
        text += `${JSON.stringify(key)}:`
        write(part[key] ?? null)
      })
  }
  const list = <T>([open, close]: string, members: readonly T[], writeOne: (member: T) => void): void => {
    text += open
    members.forEach((member, at) => {
      if (at > 0) text += ','
      writeOne(member)
    })
    text += close
  }
  write(value)
  return text
}

interface Hours {
  readonly days?: readonly string[]
  readonly from?: string
  readonly to?: string
  readonly tz?: string
}

const describeHours = ({ days, from, to, tz = 'UTC' }: Hours): string =>
  [days?.join(', '), from === undefined ? undefined : `${from}-${to}`, tz]
    .filter((part) => part !== undefined)
    .join(' ')
