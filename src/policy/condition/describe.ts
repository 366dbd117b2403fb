/** Conditions in one line, with the values they saw. */
import { toIsoText } from '../../base/clock.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Condition, ConditionLeaf } from './condition.ts'
import { inWindow } from './history.ts'
import { showValue, type SubjectValue } from './truth.ts'
import { operatorRow } from './operators.ts'

/** Longer values are cut: a decision is read, not searched. */
const MAX_VALUE = 80

/** `args.amount > 100`. */
export function describeLeaf(leaf: ConditionLeaf): string {
  const { ifMissing } = leaf
  return ifMissing === undefined ? compared(leaf) : `${compared(leaf)} (${ifMissing ? 'or absent' : 'if present'})`
}

function compared({ path, op, value, each, windowMs }: ConditionLeaf): string {
  const field = `${each === undefined ? '' : `${each} `}${inWindow(path.text, windowMs)}`
  if (op === 'exists') return `${field} ${value === true ? 'exists' : 'does not exist'}`
  if (op === 'within') return `${field} within ${describeHours(value as Hours)}`
  return `${field} ${operatorRow(op).word} ${describeValue(value)}`
}

/** `args.amount > 100 (180) and args.country == "DE" (absent)`; without values when none were seen. */
export const describeCondition = (condition: Condition, seen: readonly SubjectValue[] = []): string =>
  compileDescription(condition)(seen.map((value) => describeValue(showValue(value))))

/** @param seen what each leaf saw, as `describeValue` tells it */
export type OutcomeDescription = (seen: readonly string[]) => string

/** The same for many calls: what does not change is written once. */
export function compileDescription(condition: Condition): OutcomeDescription {
  const pieces: (string | number)[] = []
  let leaves = 0
  const write = (part: Condition, inside: boolean): void => {
    if ('leaf' in part) pieces.push(describeLeaf(part.leaf), leaves++)
    else if ('not' in part) wrap('not (', () => write(part.not, false))
    else {
      const [members, word] = 'all' in part ? [part.all, ' and '] : [part.any, ' or ']
      const list = (): void =>
        members.forEach((member, at) => {
          if (at > 0) pieces.push(word)
          write(member, members.length > 1)
        })
      if (inside && members.length > 1) wrap('(', list)
      else list()
    }
  }
  const wrap = (open: string, inner: () => void): void => {
    pieces.push(open)
    inner()
    pieces.push(')')
  }
  write(condition, false)
  return (seen) => {
    let text = ''
    for (const piece of pieces) {
      if (typeof piece === 'string') text += piece
      else if (piece < seen.length) text += ` (${seen[piece]})`
    }
    return text
  }
}

/** Milliseconds since 1970 as people read them. */
export const describeMoment = (value: JsonValue | undefined): string =>
  typeof value === 'number' && Math.abs(value) <= MAX_INSTANT ? toIsoText(value) : describeValue(value)

/** Beyond it there is no date. */
const MAX_INSTANT = 8.64e15

/** A value as JSON in one line, cut where it is long. */
export function describeValue(value: JsonValue | undefined): string {
  if (value === undefined) return 'absent'
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}…` : value)
  if (typeof value !== 'object' || value === null) return String(value)
  const text = beginningOf(value)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

/** The JSON text of a value, or more of its beginning than is shown: arguments may be larger and deeper than anyone reads. */
function beginningOf(value: JsonValue): string {
  let text = ''
  const write = (part: JsonValue): void => {
    if (text.length > MAX_VALUE) return
    if (typeof part === 'string') text += JSON.stringify(part.slice(0, MAX_VALUE))
    else if (typeof part !== 'object' || part === null) text += String(part)
    else if (Array.isArray(part)) list('[]', part.slice(0, MAX_VALUE), write)
    else
      list('{}', Object.keys(part).slice(0, MAX_VALUE), (key) => {
        text += `${JSON.stringify(key)}:`
        write(part[key]!)
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
