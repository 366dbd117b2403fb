/** What comparisons are about, read from the facts of a call. Source: policies, section 2, "Paths". */
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { ConditionLeaf } from './condition.ts'
import type { CallFacts } from './decision.ts'
import { FIELDS } from './fields.ts'
import { FUNCTIONS } from './functions.ts'
import { stepInto, type ConditionPath, type PathSegment } from './path.ts'
import { isOutOfRange, UnusableValue, type SubjectValue } from './truth.ts'

export interface LeafSubject {
  readonly read: SubjectReader
  /** Where it is a member of the arguments, or a member of one: their names, for those who look them up themselves. */
  readonly names?: readonly [string, string?]
  /** The value is a time, which people read otherwise than as a number. */
  readonly isMoment: boolean
}

type SubjectReader = (facts: CallFacts) => SubjectValue

/** The value at a leaf's path, of which its function was taken, up to its first `[*]`. */
export function compileSubject(leaf: ConditionLeaf): LeafSubject {
  const isMoment = leaf.path.root === 'time'
  const names = namesOf(leaf)
  if (!names) return { read: compileRead(leaf), isMoment }
  const [name, inner] = names
  return { read: ({ args }) => (isMapping(args) ? usableValue(args[name], inner) : NOTHING), names, isMoment }
}

/** Nothing, where there are fewer than a text has places for. */
export const NO_SUBJECT: LeafSubject = { read: () => undefined, isMoment: false }

/** Something on the way has no members. */
export const NOTHING = new UnusableValue()

/** A value as comparisons may use it, or its member of that name. */
export function usableValue(value: JsonValue | undefined, name: string | undefined): SubjectValue {
  return usable(name === undefined || value === undefined ? value : memberOf(value, name))
}

function memberOf(value: JsonValue, name: string): SubjectValue {
  return isMapping(value) ? value[name] : NOTHING
}

function usable(value: SubjectValue): SubjectValue {
  return isOutOfRange(value) ? new UnusableValue(value) : value
}

export function isMapping(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value)
}

const { isArray } = Array

/** Most paths are one or two names long: they are looked up without a loop. */
function namesOf({ path, each }: ConditionLeaf): LeafSubject['names'] {
  const { root, fn, segments } = path
  if (root !== 'args' || fn || each !== undefined || segments.length > 2) return undefined
  // JSON inherits from nothing but `Object.prototype`, so what is found under another name is its own.
  const names = segments.flatMap((segment) =>
    'key' in segment && !(segment.key in Object.prototype) ? segment.key : [],
  )
  return names.length > 0 && names.length === segments.length ? (names as [string, string?]) : undefined
}

function compileRead({ path, each, windowMs }: ConditionLeaf): SubjectReader {
  if (path.history) {
    const { scope, whose, measure } = path.history
    // A measure that cannot be told is unknown and not absent: `if_missing` must not excuse it.
    return (facts) => facts.history(scope, whose, measure, windowMs) ?? NOTHING
  }
  const split = path.segments.findIndex((segment) => 'each' in segment)
  const read = compileWalk(path, split === -1 ? path.segments : path.segments.slice(0, split))
  if (each !== undefined) return read
  const clear = toUsable(path)
  return (facts) => clear(read(facts))
}

/** Makes a value one that comparisons may use, and takes the path's function of it. */
export function toUsable({ fn }: ConditionPath): (value: SubjectValue) => SubjectValue {
  const apply = fn && FUNCTIONS[fn]
  return (value) => {
    if (value === undefined || value instanceof UnusableValue) return value
    const result = apply ? apply(value) : value
    return result === undefined || isOutOfRange(value) ? new UnusableValue(result) : result
  }
}

function compileWalk({ root }: ConditionPath, segments: readonly PathSegment[]): SubjectReader {
  if (root === 'args') return (facts) => walkPath(facts.args, segments)
  const [first, ...rest] = segments
  const field = FIELDS[root]![(first as { key: string }).key]!
  return rest.length === 0 ? field : (facts) => walkPath(field(facts), rest)
}

export function walkPath(start: JsonValue | undefined, segments: readonly PathSegment[]): SubjectValue {
  let value = start
  for (const segment of segments) {
    if (value === undefined) return undefined
    const fits = typeof value === 'object' && value !== null && Array.isArray(value) === 'index' in segment
    if (!fits) return NOTHING
    value = stepInto(value, segment)
  }
  return value
}
